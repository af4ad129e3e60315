// ONNX Runtime on one sample: node ort.js MODEL THREADS RUNS NAME=FILE.npy ...; prints JSON.
const fs = require('fs');
const ort = require('onnxruntime-node');

function tensor(path) {
	const file = fs.readFileSync(path), length = file.readUInt16LE(8), header = file.toString('latin1', 10, 10 + length);
	const dims = /'shape': \(([^)]*)\)/.exec(header)[1].split(',').filter((d) => d.trim()).map(Number);
	const bytes = file.buffer.slice(file.byteOffset + 10 + length, file.byteOffset + file.length);
	return header.includes('<i8') ? new ort.Tensor('int64', new BigInt64Array(bytes), dims) : new ort.Tensor('float32', new Float32Array(bytes), dims);
}

async function main([model, threads, runs, ...inputs]) {
	const begin = performance.now();
	const session = await ort.InferenceSession.create(model, {intraOpNumThreads: +threads, interOpNumThreads: 1, logSeverityLevel: 3});
	const load = performance.now() - begin, feeds = {}, ms = [];
	for (const i of inputs)
		feeds[i.slice(0, i.indexOf('='))] = tensor(i.slice(i.indexOf('=') + 1));
	for (let i = -2; i < +runs; i++) {
		const start = performance.now();
		await session.run(feeds);
		if (i >= 0)
			ms.push(performance.now() - start);
	}
	ms.sort((a, b) => a - b);
	console.log(JSON.stringify({load_ms: load, median_ms: ms[ms.length >> 1], min_ms: ms[0], peak_rss_mb: process.resourceUsage().maxRSS / 1024}));
}
main(process.argv.slice(2));
