"""A two-layer network trained on scikit-learn's handwritten digits with Enceladus kernels only.

Initial weights, forward pass, gradients and SGD steps are kernels; Python only launches them. With
Tensor arguments nothing waits until the predictions are read.
"""

import argparse
import math

import numpy as np

import enceladus
import enceladus.language as tl

CLASSES = 10


@enceladus.jit
def init_kernel(out_ptr, n, seed, bound, BLOCK: tl.constexpr):
    """Numbers that look random, between -bound and bound: a hash of each position."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = (offsets + seed).to(tl.uint32)
    h = (h ^ (h >> 16)) * 0x45D9F3B
    h = (h ^ (h >> 16)) * 0x45D9F3B
    h = h ^ (h >> 16)
    uniform = h.to(tl.float32) / 4294967296.0
    tl.store(out_ptr + offsets, (2.0 * uniform - 1.0) * bound, mask=offsets < n)


@enceladus.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    bias_ptr,
    gate_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    RELU: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    """`a @ b`, plus a bias where there is one, through ReLU, and zero where the gate is not > 0."""
    rows = tl.program_id(1) * BM + tl.arange(0, BM)[:, None]
    columns = tl.program_id(0) * BN + tl.arange(0, BN)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a_inner = k + tl.arange(0, BK)[None, :]
        b_inner = k + tl.arange(0, BK)[:, None]
        a_mask = (rows < M) & (a_inner < K)
        b_mask = (b_inner < K) & (columns < N)
        a = tl.load(a_ptr + rows * stride_am + a_inner * stride_ak, mask=a_mask, other=0.0)
        b = tl.load(b_ptr + b_inner * stride_bk + columns * stride_bn, mask=b_mask, other=0.0)
        acc = tl.dot(a, b, acc)
    if bias_ptr is not None:
        acc += tl.load(bias_ptr + columns, mask=columns < N, other=0.0)
    if RELU:
        acc = tl.maximum(acc, 0.0)
    mask = (rows < M) & (columns < N)
    if gate_ptr is not None:
        gate = tl.load(gate_ptr + rows * N + columns, mask=mask, other=0.0)
        acc = tl.where(gate > 0.0, acc, 0.0)
    tl.store(c_ptr + rows * N + columns, acc, mask=mask)


@enceladus.jit
def cross_entropy_gradient_kernel(
    logits_ptr, labels_ptr, gradient_ptr, rows, classes, BLOCK: tl.constexpr
):
    """The gradient of the mean cross entropy: (softmax - one hot) / rows."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < classes
    logits = tl.load(logits_ptr + row * classes + offsets, mask=mask, other=-float("inf"))
    exponentials = tl.exp(logits - tl.max(logits, axis=0))
    softmax = exponentials / tl.sum(exponentials, axis=0)
    target = tl.where(offsets == tl.load(labels_ptr + row), 1.0, 0.0)
    tl.store(gradient_ptr + row * classes + offsets, (softmax - target) / rows, mask=mask)


@enceladus.jit
def column_sum_kernel(x_ptr, out_ptr, rows, columns, BR: tl.constexpr, BC: tl.constexpr):
    column = tl.program_id(0) * BC + tl.arange(0, BC)
    total = tl.zeros((BC,), dtype=tl.float32)
    for start in range(0, rows, BR):
        row = start + tl.arange(0, BR)
        mask = (row[:, None] < rows) & (column[None, :] < columns)
        x = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=mask, other=0.0)
        total += tl.sum(x, axis=0)
    tl.store(out_ptr + column, total, mask=column < columns)


@enceladus.jit
def sgd_kernel(parameter_ptr, gradient_ptr, n, rate, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    parameter = tl.load(parameter_ptr + offsets, mask=mask)
    gradient = tl.load(gradient_ptr + offsets, mask=mask)
    tl.store(parameter_ptr + offsets, parameter - rate * gradient, mask=mask)


@enceladus.jit
def argmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + offsets, mask=offsets < columns, other=-float("inf"))
    tl.store(out_ptr + row, tl.argmax(x, axis=0))


def matmul(a, b, bias=None, gate=None, relu=False, transpose=(False, False)):
    """`a @ b` with its epilogues; each of the two may be read transposed."""
    a_shape, a_strides = tuple(a.shape), enceladus.element_strides(a)
    b_shape, b_strides = tuple(b.shape), enceladus.element_strides(b)
    if transpose[0]:
        a_shape, a_strides = a_shape[::-1], a_strides[::-1]
    if transpose[1]:
        b_shape, b_strides = b_shape[::-1], b_strides[::-1]
    (m, k), n = a_shape, b_shape[1]
    out = enceladus.new_empty(a, (m, n))
    grid = lambda meta: (enceladus.cdiv(n, meta["BN"]), enceladus.cdiv(m, meta["BM"]))
    matmul_kernel[grid](
        a, b, bias, gate, out, m, n, k, *a_strides, *b_strides, RELU=relu, BM=32, BN=64, BK=32
    )
    return out


def column_sum(x):
    """The sum of each column."""
    rows, columns = x.shape
    out = enceladus.new_empty(x, (columns,))
    column_sum_kernel[(enceladus.cdiv(columns, 64),)](x, out, rows, columns, BR=16, BC=64)
    return out


class Network:
    """Two linear layers with a ReLU between them.

    Args:
        like: an array whose library and device the parameters have.
        inputs: the width of the input.
        hidden: the width of the layer between.
    """

    def __init__(self, like, inputs, hidden=128):
        self.weight1 = self._random(like, (inputs, hidden), seed=1)
        self.bias1 = enceladus.new_zeros(like, (hidden,))
        self.weight2 = self._random(like, (hidden, CLASSES), seed=100_003)
        self.bias2 = enceladus.new_zeros(like, (CLASSES,))

    @staticmethod
    def _random(like, shape, seed):
        out = enceladus.new_empty(like, shape)
        n = math.prod(shape)
        bound = math.sqrt(6 / shape[0])
        init_kernel[(enceladus.cdiv(n, 1024),)](out, n, seed, bound, BLOCK=1024)
        return out

    def forward(self, x):
        """The hidden layer and the logits."""
        hidden = matmul(x, self.weight1, self.bias1, relu=True)
        return hidden, matmul(hidden, self.weight2, self.bias2)

    def step(self, x, labels, rate):
        """One SGD step on a batch."""
        hidden, logits = self.forward(x)
        rows = x.shape[0]
        d_logits = enceladus.new_empty(logits)
        cross_entropy_gradient_kernel[(rows,)](logits, labels, d_logits, rows, CLASSES, BLOCK=16)
        d_hidden = matmul(d_logits, self.weight2, gate=hidden, transpose=(False, True))
        gradients = (
            (self.weight2, matmul(hidden, d_logits, transpose=(True, False))),
            (self.bias2, column_sum(d_logits)),
            (self.weight1, matmul(x, d_hidden, transpose=(True, False))),
            (self.bias1, column_sum(d_hidden)),
        )
        for parameter, gradient in gradients:
            n = math.prod(parameter.shape)
            sgd_kernel[(enceladus.cdiv(n, 1024),)](parameter, gradient, n, rate, BLOCK=1024)

    def predict(self, x):
        """The most likely class of each row."""
        logits = self.forward(x)[1]
        out = enceladus.new_empty(x, (x.shape[0],), dtype="int32")
        argmax_kernel[(x.shape[0],)](logits, out, CLASSES, BLOCK=16)
        return out


def train(x, labels, epochs=30, batch=64, rate=0.2):
    """A network trained on float32 images `(n, pixels)` and int32 labels `(n,)`."""
    network = Network(x, x.shape[1])
    for _ in range(epochs):
        for start in range(0, x.shape[0], batch):
            network.step(x[start : start + batch], labels[start : start + batch], rate)
    return network


def load_digits():
    """Images and labels: four fifths to train with, shuffled once, and one fifth to test with."""
    from sklearn.datasets import load_digits as load

    data = load()
    order = np.random.default_rng(0).permutation(len(data.target))
    images = np.ascontiguousarray(data.data[order] / 16, np.float32)
    labels = np.ascontiguousarray(data.target[order], np.int32)
    cut = len(order) * 4 // 5
    return (images[:cut], labels[:cut]), (images[cut:], labels[cut:])


def accuracy(network, x, labels):
    """The share of rows that are classified right."""
    return float(np.mean(np.asarray(network.predict(x)) == np.asarray(labels)))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=30)
    options = parser.parse_args(arguments)
    training, test = load_digits()
    x, labels = (enceladus.from_numpy(array) for array in training)
    network = train(x, labels, options.epochs)
    share = accuracy(network, enceladus.from_numpy(test[0]), test[1])
    print(f"digits: {share:.1%} of {len(test[1])} test images are classified right")


if __name__ == "__main__":
    main()
