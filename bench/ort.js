// Times ONNX Runtime on one model: node ort.js MODEL THREADS RUNS DIM,DIM,... ; prints the median in milliseconds.
'use strict';
const ort = require('onnxruntime-node');

function median(ms) {
	ms.sort((a, b) => a - b);
	return ms[ms.length >> 1];
}

async function main([model, threads, runs, shape]) {
	const session = await ort.InferenceSession.create(model, { intraOpNumThreads: Number(threads), interOpNumThreads: 1 });
	const dims = shape.split(',').map(Number);
	const data = new Float32Array(dims.reduce((a, b) => a * b, 1)).fill(0.5);
	const feeds = { [session.inputNames[0]]: new ort.Tensor('float32', data, dims) };
	const ms = [];
	for (let i = 0; i < Number(runs); i++) {
		const begin = process.hrtime.bigint();
		await session.run(feeds);
		ms.push(Number(process.hrtime.bigint() - begin) / 1e6);
	}
	console.log(median(ms).toFixed(3));
}

main(process.argv.slice(2)).catch((e) => {
	console.error(String(e));
	process.exit(1);
});
