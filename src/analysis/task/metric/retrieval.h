// Vectors of samples of known classes, each held against all others by the cosine between them: who is nearest, and how well
// vectors of one class are told from those of others.
#ifndef QTUI_ANALYSIS_TASK_METRIC_RETRIEVAL_H
#define QTUI_ANALYSIS_TASK_METRIC_RETRIEVAL_H

struct query { // a sample in search of its like
	int first;  // the nearest other, which is of another class where one is as near as one of its own; -1: it is alone
	float near; // its cosine
	// Average precision: the mean, over the others of its class, of the share of them among all that are as near or nearer.
	// Those of other classes go first where they are as near. NAN: there is no other of its class.
	double ap;
};
struct retrieval {
	int n;
	struct query *of; // [n]
	// The share of pairs of one class that are nearer than all but RETRIEVAL_FAR of the pairs of two classes (TAR at that FAR, as
	// verification of faces has it). NAN: there are no pairs of one, or none of two.
	double tar;
};
#define RETRIEVAL_FAR 1e-3
// vector: [n] of `length` elements, of length 1 or 0. Takes n * n * length multiplications, a query alone n * length.
struct query retrieval_query(const float *const *vector, const int *class, int n, int length, int query);
struct retrieval *retrieval_new(const float *const *vector, const int *class, int n, int length);
void retrieval_free(struct retrieval **n);

#endif
