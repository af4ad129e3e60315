# A small network as the text of an ONNX model: `awk -v seed=N -f network.awk`. Functions, movers between them, joins of tensors that
# came different ways from one, convolutions whose channels fill blocks or do not, products, norms, gates, halves that nobody reads: what
# an engine that fuses, fills tables and leaves copies out has to keep apart.
# Lehmer's numbers in 0..1: rand() is another one in every awk.
function random() {
	state = state * 16807 % 2147483647
	return state / 2147483647
}
function pick(n) { return int(random() * n) }

# An input "-" is left out.
function node(op, ins, outs, attributes,    i, n, name) {
	text = text sprintf("  node { name: \"%s_%d\" op_type: \"%s\"", op, ++nodes, op)
	n = split(ins, name, " ")
	for (i = 1; i <= n; i++) {
		text = text sprintf(" input: \"%s\"", name[i] == "-" ? "" : name[i])
		used[name[i]] = 1
	}
	n = split(outs, name, " ")
	for (i = 1; i <= n; i++) text = text sprintf(" output: \"%s\"", name[i])
	text = text attributes " }\n"
}
function number(name, value) { return sprintf(" attribute { name: \"%s\" type: INT i: %d }", name, value) }
function word(name, value) { return sprintf(" attribute { name: \"%s\" type: STRING s: \"%s\" }", name, value) }
function numbers(name, values) {
	gsub(/[^ ]+/, "ints: &", values)
	return sprintf(" attribute { name: \"%s\" type: INTS %s }", name, values)
}
# A constant; returns its name. Of `type` 1 random floats about 0, `count` of them, of 7 the integers given.
function constant(type, dims, values, reach,    i, count, name, d) {
	name = "k" ++constants
	count = split(dims, d, " ")
	gsub(/[^ ]+/, "dims: &", dims)
	text = text sprintf("  initializer { name: \"%s\" data_type: %d %s", name, type, dims)
	if (type == 7) {
		gsub(/[^ ]+/, "int64_data: &", values)
		text = text " " values
	} else {
		reach = values
		values = 1
		for (i = 1; i <= count; i++) values *= d[i]
		for (i = 0; i < values; i++) text = text sprintf(" float_data: %.4f", (random() + random() - 1) * reach)
	}
	text = text " }\n"
	return name
}

function floats(dims, values,    name) {
	name = "k" ++constants
	gsub(/[^ ]+/, "dims: &", dims)
	gsub(/[^ ]+/, "float_data: &", values)
	text = text sprintf("  initializer { name: \"%s\" data_type: 1 %s %s }\n", name, dims, values)
	return name
}

# Tensors are 1 x c x h x w; returns the number of a new one.
function tensor(c, h, w) {
	C[++tensors] = c; H[tensors] = h; W[tensors] = w
	return tensors
}
function like(t) { return tensor(C[t], H[t], W[t]) }

function convolve(t,    kernel, c, group, y, weights) {
	kernel = pick(2) ? 3 : 1
	group = pick(4) ? 1 : C[t]
	c = group > 1 ? C[t] : pick(2) ? 1 + pick(20) : 16 * (1 + pick(3)) # also whole blocks, which may be taken apart in place
	y = tensor(c, H[t], W[t])
	weights = constant(1, c " " C[t] / group " " kernel " " kernel, 4 / (kernel * sqrt(C[t] / group)))
	node("Conv", "t" t " " weights " " constant(1, c "", 0.2), "t" y, numbers("kernel_shape", kernel " " kernel) \
		numbers("pads", kernel == 3 ? "1 1 1 1" : "0 0 0 0") number("group", group))
	return y
}
function apply(t,    y, s) {
	y = like(t)
	if (pick(6) == 0) {
		s = like(t)
		node("Sigmoid", "t" t, "t" s)
		node("Mul", pick(2) ? "t" t " t" s : "t" s " t" t, "t" y)
	} else
		node(functions[pick(n_functions)], "t" t, "t" y)
	return y
}
function move(t,    kind, y, i, order) {
	kind = pick(11)
	if (kind == 0 && C[t] % 2 == 0) {
		y = tensor(C[t] / 2, H[t], W[t])
		i = tensor(C[t] / 2, H[t], W[t])
		node("Split", "t" t, "t" y " t" i, number("axis", 1))
	} else if (kind == 1 && C[t] > 1) {
		y = tensor(C[t] - 1, H[t], W[t])
		i = pick(2)
		node("Slice", "t" t " " constant(7, "1", i "") " " constant(7, "1", C[t] - 1 + i "") " " constant(7, "1", "1"), "t" y)
	} else if (kind == 2) {
		y = tensor(C[t], W[t], H[t])
		node("Transpose", "t" t, "t" y, numbers("perm", "0 1 3 2"))
	} else if (kind == 3) {
		y = like(t)
		order = C[t] - 1 ""
		for (i = C[t] - 2; i >= 0; i--) order = order " " i
		node("Gather", "t" t " " constant(7, C[t] "", order), "t" y, number("axis", 1))
	} else if (kind == 4) {
		y = tensor(H[t], C[t], W[t])
		node("Reshape", "t" t " " constant(7, "4", "1 " H[t] " " C[t] " " W[t]), "t" y)
	} else if (kind == 5) {
		y = like(t)
		node("MaxPool", "t" t, "t" y, numbers("kernel_shape", "3 3") numbers("pads", "1 1 1 1"))
	} else if (kind == 6) {
		y = like(t)
		node("AveragePool", "t" t, "t" y, numbers("kernel_shape", "3 3") numbers("pads", "1 1 1 1"))
	} else if (kind == 7 && C[t] % 4 == 0 && H[t] < 20) {
		y = tensor(C[t] / 4, 2 * H[t], 2 * W[t])
		node("DepthToSpace", "t" t, "t" y, number("blocksize", 2) word("mode", pick(2) ? "DCR" : "CRD"))
	} else if (kind == 8) {
		y = like(t)
		node("Trilu", "t" t, "t" y, number("upper", pick(2)))
	} else if (kind == 9 && H[t] % 2 == 0) {
		y = tensor(C[t], H[t] / 2, W[t])
		i = like(y)
		node("Split", "t" t, "t" y " t" i, number("axis", 2))
	} else {
		i = other_of(t, 0)
		y = tensor(C[t] + C[i], H[t], W[t])
		node("Concat", "t" t " t" i, "t" y, number("axis", 1))
	}
	return y
}
# What has weights and is no plain convolution.
function weigh(t,    kind, y, c, weights) {
	kind = pick(4)
	if (kind == 0) {
		y = tensor(C[t], H[t], 1 + pick(20))
		node("MatMul", "t" t " " constant(1, W[t] " " W[y], 3 / sqrt(W[t])), "t" y)
	} else if (kind == 1 && H[t] < 20) {
		y = tensor(1 + pick(12), 2 * H[t], 2 * W[t])
		node("ConvTranspose", "t" t " " constant(1, C[t] " " C[y] " 2 2", 2 / sqrt(C[t])), "t" y, numbers("strides", "2 2"))
	} else if (kind == 2 && H[t] > 2 && W[t] > 2) {
		c = 1 + pick(20)
		y = tensor(c, int((H[t] - 1) / 2) + 1, int((W[t] - 1) / 2) + 1)
		weights = constant(1, c " " C[t] " 3 3", 2 / sqrt(C[t]))
		node("Conv", "t" t " " weights, "t" y, numbers("pads", "1 1 1 1") numbers("strides", "2 2"))
	} else {
		y = tensor(C[t], H[t], H[t])
		c = tensor(C[t], W[t], H[t])
		node("Transpose", "t" t, "t" c, numbers("perm", "0 1 3 2"))
		node("MatMul", "t" t " t" c, "t" y)
		if (pick(2)) {
			t = y
			y = like(t)
			node("Softmax", "t" t, "t" y, number("axis", -1))
		}
	}
	return y
}
# Each channel by a factor that follows from its mean.
function excite(t,    mean, factor, y) {
	mean = tensor(C[t], 1, 1)
	if (pick(2)) node("GlobalAveragePool", "t" t, "t" mean)
	else node("ReduceMean", "t" t, "t" mean, numbers("axes", "2 3") number("keepdims", 1))
	factor = like(mean)
	node("Conv", "t" mean " " constant(1, C[t] " " C[t] " 1 1", 4 / sqrt(C[t])) " " constant(1, C[t] "", 0.2), "t" factor)
	factor = apply(factor)
	y = like(t)
	node("Mul", pick(2) ? "t" t " t" factor : "t" factor " t" t, "t" y)
	return y
}
# What looks at a whole row, channel or neighbourhood, or at a constant.
function shape(t,    kind, y) {
	kind = pick(7)
	y = kind == 0 && H[t] < 20 ? tensor(C[t], 2 * H[t], 2 * W[t]) : kind == 1 ? tensor(C[t], H[t] + 1, W[t] + 2) : like(t)
	if (H[y] == 2 * H[t] && kind == 0)
		node("Resize", "t" t " - " floats("4", "1 1 2 2"), "t" y, word("mode", pick(2) ? "nearest" : "linear"))
	else if (kind == 1)
		node("Pad", "t" t " " constant(7, "8", "0 0 1 0 0 0 0 2"), "t" y)
	else if (kind == 2)
		node("Softmax", "t" t, "t" y, number("axis", 1 + pick(3)))
	else if (kind == 3)
		node("InstanceNormalization", "t" t " " constant(1, C[t] "", 1) " " constant(1, C[t] "", 1), "t" y)
	else if (kind == 4)
		node("PRelu", "t" t " " constant(1, C[t] " 1 1", 0.5), "t" y)
	else if (kind == 5)
		node("Clip", "t" t " " floats("", "-0.5") " " floats("", "6"), "t" y)
	else
		node(pick(2) ? "Mul" : "Add", "t" t " " constant(1, pick(2) ? C[t] " 1 1" : "1", 2), "t" y)
	return y
}
# A tensor of t's size, where there is one t itself as seldom as the others; same: of its channels too.
function other_of(t, same,    i, n, found) {
	for (i = 1; i <= tensors; i++)
		if (H[i] == H[t] && W[i] == W[t] && (!same || C[i] == C[t]))
			found[n++] = i
	return found[pick(n)]
}
function join(t,    y, other) {
	other = other_of(t, 1)
	y = like(t)
	node(joins[pick(n_joins)], "t" t " t" other, "t" y)
	return y
}
function value(which, name, c, h, w) {
	return sprintf("  %s { name: \"%s\" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { dim_value: %d } dim { dim_value: %d } dim { dim_value: %d } } } } }\n", \
		which, name, c, h, w)
}

# A gated unit: one half of a tensor scales or shifts the other.
function gate(t,    y, half, other) {
	half = tensor(C[t] / 2, H[t], W[t])
	other = like(half)
	node("Split", "t" t, "t" half " t" other, number("axis", 1))
	other = apply(other)
	y = like(half)
	node(joins[pick(n_joins)], "t" half " t" other, "t" y)
	return y
}

BEGIN {
	state = seed * 2654435 % 2147483646 + 1
	n_functions = split("Relu HardSwish Sigmoid LeakyRelu Tanh HardSigmoid Elu Softplus", list, " ")
	for (i = 1; i <= n_functions; i++) functions[i - 1] = list[i]
	n_joins = split("Add Mul Sub Max", list, " ")
	for (i = 1; i <= n_joins; i++) joins[i - 1] = list[i]
	now = tensor(3, 6, 7)
	head = value("input", "t1", 3, 6, 7)
	now = convolve(now)
	for (step = 0; step < 14; step++) {
		if (C[now] > 64) now = convolve(now)
		else if (C[now] % 2 == 0 && pick(4) == 0) now = gate(apply(now))
		else if (pick(8) == 0) now = excite(now)
		else if (pick(5) == 0) now = weigh(now)
		else if (pick(4) == 0) now = shape(now)
		else if (pick(3) == 0) now = move(apply(now))
		else if (pick(4) == 0) now = join(apply(move(apply(now))))
		else if (pick(2)) now = apply(now)
		else if (pick(3)) now = join(now)
		else now = convolve(now)
		if (pick(5) == 0) now = 2 + pick(tensors - 1)
	}
	last = apply(now)
	for (i = 1; i <= tensors; i++)
		if (!used["t" i] && (i == last || pick(4))) # some that nobody reads are no outputs either
			head = head value("output", "t" i, C[i], H[i], W[i])
	printf "ir_version: 8\nopset_import { version: 14 }\ngraph {\n  name: \"network %d\"\n%s%s}\n", seed, text, head
}
