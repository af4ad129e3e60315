// ONNX Runtime on one sample: node ort.js MODEL THREADS RUNS NAME=FILE.npy ...; prints JSON.
const fs = require('fs');
const ort = require('onnxruntime-node');

const kinds = {'<f4': ['float32', Float32Array], '<f2': ['float16', Uint16Array], '<f8': ['float64', Float64Array], '<i8': ['int64', BigInt64Array],
	'<i4': ['int32', Int32Array], '|i1': ['int8', Int8Array], '|u1': ['uint8', Uint8Array], '|b1': ['bool', Uint8Array]};

function tensor(path) {
	const file = fs.readFileSync(path), length = file.readUInt16LE(8), header = file.toString('latin1', 10, 10 + length);
	const dims = /'shape': \(([^)]*)\)/.exec(header)[1].split(',').filter((d) => d.trim()).map(Number);
	const bytes = file.buffer.slice(file.byteOffset + 10 + length, file.byteOffset + file.length);
	const [type, array] = kinds[/'descr': '([^']*)'/.exec(header)[1]];
	return new ort.Tensor(type, new array(bytes), dims);
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
	const total = ms.reduce((sum, t) => sum + t, 0);
	ms.sort((a, b) => a - b);
	console.log(JSON.stringify({load_ms: load, median_ms: ms[ms.length >> 1], min_ms: ms[0], total_ms: total, peak_rss_mb: process.resourceUsage().maxRSS / 1024}));
}
main(process.argv.slice(2));
