// Private to src/engine/run: steps, the store, and what the exec_*.c files share.
#ifndef QTUI_ENGINE_RUN_RUN_IMPL_H
#define QTUI_ENGINE_RUN_RUN_IMPL_H

#include <pthread.h>
#include "qtui/base/hash.h"
#include "qtui/base/jobs.h"
#include "qtui/base/thread.h"
#include "qtui/engine/run.h"

// Where `on` is set the step as a whole is a layer normalisation of the main node's input.
struct step_norm {
	bool on;
	float epsilon;
	const struct tensor *gain, *shift; // one value an element of the row, or NULL
};
// A step is what is executed at once: one node, or a node with what is fused behind it.
// `last` is the node whose output 0 is the result; inputs are the main node's. Steps are in topological order.
struct step {
	int node, last;
	struct epilogue epi;
	int residual;      // value added by the epilogue, -1
	int bias;          // constant that a MatMul adds to every row before the epilogue, -1
	bool scaled;       // the result behind the epilogue becomes y * gain + shift, product and sum each rounded to float
	float gain, shift;
	struct step_norm norm;
	bool swish;        // Sigmoid + Mul as one unary step on the Sigmoid's input
	int64_t cost;      // rough work, for choosing what to keep
	double behind;     // cost of the dearest chain of steps that begins behind this one, as a share of the network's dearest chain: 0..1
};
struct steps {
	struct step *step;
	int n;
	int *of_value;     // [n_values] step that computes it, -1
};
// Cuts the network into steps. Without `free_fusion` they are the groups of the plan; with it, everything that has
// a fused kernel is fused. No value that is wanted (keep[value]) disappears inside a step. `ordered`: no fusion that
// changes the order of sums, since in a file that is quantized already the last bit of a sum may decide a code.
void steps_build(struct steps *out, const struct graph *g, const struct plan *plan, const bool *keep, bool free_fusion, bool ordered);
void steps_done(struct steps *s);
// The constant that node n combines with value v, where it has one element for each
// place along v's last axis; else NULL.
const struct tensor *step_row(const struct graph *g, const struct node *n, int v);
// Where a layer normalisation is written out in single nodes, beginning with the mean of this step:
// makes the step all of it and sets taken[node] for its nodes.
bool step_norm_find(const struct graph *g, const bool *keep, struct step *s, bool *taken);
// Where a Gelu is written out in single nodes behind this step:
// makes it the step's activation and sets taken[node] for its nodes.
bool step_gelu_find(const struct graph *g, const bool *keep, struct step *s, bool *taken);
bool step_act(const struct graph *g, const struct node *n, struct act *a); // the activation that a node is, if any
// Values that the step reads, constants left out: -1.
int step_n_in(const struct graph *g, const struct step *s);
int step_in(const struct graph *g, const struct step *s, int i);
int step_n_out(const struct graph *g, const struct step *s);
int step_out(const struct graph *g, const struct step *s, int i); // value id

// The store of computed tensors. Thread-safe. A tensor's worth is the work that it takes to compute it again, per byte.
// The store keeps tensors of at least `least_worth` within its budget, those of the greatest worth first.
// Beside them it holds tensors, whatever they are worth, for as long as a pass has asked it to (store_put, `until`).
struct store;
struct store *store_new(size_t budget, double least_worth);
void store_free(struct store **s);
// *out gets its own count, *owed the work that it takes to have the tensor again if it is only held, else 0.
// A tensor that is worth less than `least` times least_worth leaves the store with this reading.
bool store_get(struct store *s, struct key k, double least, struct rep *out, double *owed);
// Keeps the tensor, which takes `work` to have again, if it is worth at least `least` times least_worth; with `until` >
// 0 it is held, whatever it is worth, until store_release(until) or a later one. True: it is kept for its worth.
bool store_put(struct store *s, struct key k, const struct rep *r, double work, double least, int until);
void store_release(struct store *s, int until);
size_t store_bytes(struct store *s);
void store_trim(struct store *s, size_t budget);
void store_set_budget(struct store *s, size_t budget); // likewise, and no more from here on

// Prepared kernels by key. Thread-safe. Users are the workers, numbered from 0, and behind them
// the thread that prepares kernels ahead. A kernel that a user got stays until that user's next step;
// after that it stays while all kernels together hold at most `limit` bytes of packed weights.
struct kernels;
struct prepared {
	struct kernel *kernel;
	enum layout in, out;
};
struct kernels *kernels_new(int n_users, size_t limit);
void kernels_free(struct kernels **k);
void kernels_step(struct kernels *k, int user); // the user begins a step: it lets go of the kernels that it got for the last one
typedef enum status kernel_maker(void *arg, struct prepared *out); // *out is zeroed
// The kernel of this key, made by `make` if it is not there. Errors are those of `make`.
MUST_CHECK enum status kernels_get(struct kernels *k, int user, struct key key, kernel_maker *make, void *arg, struct prepared *out);
void kernels_turn(struct kernels *k); // a pass begins, and no user is in a step: kernels of earlier passes are the first to be dropped
bool kernels_full(struct kernels *k); // the limit is reached: a kernel that is made now will not stay

struct worker {
	void *scratch;
	size_t scratch_size;
};
struct engine {
	const struct graph *g;
	const struct dataset *d;
	struct engine_options opt;
	struct jobs *jobs;
	struct store *store;
	size_t room;           // budget of the store, bytes
	struct kernels *kernels; // users: the workers, and the thread that prepares ahead
	struct worker *worker;
	struct key *node_sig;  // [n_nodes] operator, attributes and place
	bool quantized_file;   // the model has Q/DQ nodes of its own: sums keep ONNX Runtime's order
	struct kept_runner *kept; // what the last engine_infer left for the next one
	pthread_mutex_t branch_lock;
	struct branches {
		struct engine *of[2]; // made when first taken
	} *branch;             // [n_nodes] engines for the graphs inside If nodes
};

// Execution of one step under one simulation.
struct exec {
	struct engine *e;
	const struct graph *g;
	const struct plan *plan; // NULL: float
	enum sim sim;
	int worker, width;
	const struct step *step;
	const struct node *node; // the main node
	struct rep **in;         // [node->n_in] NULL: absent. Already passed through the input slots' quantizers
	struct rep *residual;    // or NULL
	struct rep *out;         // [step_n_out]
	const struct place *place; // where output 0 may lie; NULL: in memory of its own
	const struct place *whole; // of a Concat: where its result lies if its parts do; or NULL
	struct error *err;
};
MUST_CHECK enum status exec_step(struct exec *x);
// Families: STATUS_UNSUPPORTED with err untouched means "not this way".
MUST_CHECK enum status exec_norm(struct exec *x);
MUST_CHECK enum status exec_conv(struct exec *x);
MUST_CHECK enum status exec_conv_deep(struct exec *x);
MUST_CHECK enum status exec_conv_computed(struct exec *x); // weights or bias that the network computes
MUST_CHECK enum status exec_matmul(struct exec *x);
MUST_CHECK enum status exec_product(struct exec *x);
MUST_CHECK enum status exec_unary(struct exec *x);
MUST_CHECK enum status exec_binary(struct exec *x);
MUST_CHECK enum status exec_pool(struct exec *x);
MUST_CHECK enum status exec_resize(struct exec *x);
MUST_CHECK enum status exec_pad(struct exec *x);
MUST_CHECK enum status exec_move(struct exec *x);
MUST_CHECK enum status exec_if(struct exec *x);
MUST_CHECK enum status exec_convinteger(struct exec *x);
MUST_CHECK enum status exec_qlinearconv(struct exec *x);

void *exec_scratch(struct exec *x, size_t size);
// Runs a kernel with the scratch memory that it wants and the threads of the step, which are put into *io.
MUST_CHECK enum status exec_kernel(struct exec *x, const struct kernel *k, struct kernel_io *io);
// The quantizer that the plan puts on the step's output i under this simulation; NULL: none.
const struct quantizer *exec_out_quantizer(const struct exec *x, int i);
// Does the parameter in slot i of the main node carry an active quantizer here?
// (weights: FULL, ALONE, WEIGHTS; biases: not WEIGHTS)
const struct quantizer *exec_param_quantizer(const struct exec *x, int i);
bool exec_integer(const struct exec *x); // FULL or ALONE

// Reps.
void rep_set_quantizer(struct rep *r, const struct quantizer *q);
MUST_CHECK enum status rep_alloc(struct rep *r, enum dtype type, enum layout layout, const struct shape *shape, struct error *err);
void rep_clear_padding(struct rep *r); // LAYOUT_BLOCK: channels past C become zero again, in codes what stands for zero
// Of 8-bit codes: where those lie, or lay, that tell them one by one, and what each of the 256 makes here.
struct byte_origin {
	uint64_t buf; // its id
	const void *data;
	uint8_t code[256];
};
struct rep rep_part(const struct rep *r, const struct shape *shape, size_t at); // shares the elements from byte `at` on
struct byte_origin rep_origin(const struct rep *r); // that of codes of which nothing is known: themselves
void rep_set_origin(struct rep *y, const struct rep *x, const uint8_t lut[256]); // y = lut[x], element by element as they lie
// Casts have no scale, nor has anything before the plan is finished: these are the same where they are of one kind.
bool quantizer_same_grid(const struct quantizer *a, const struct quantizer *b);
bool quantizer_has_codes(const struct quantizer *q); // per tensor, at most 16 bit: the tensor can be held as codes

#endif
