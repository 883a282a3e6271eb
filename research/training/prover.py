"""``esoteric train prover``: the network that proves claims span by span.

It starts from the weights of the relevance model, which reads claims with evidence. It learns
operators, and the words of the evidence for each, from proofs made for claims whose evidence is
known to suffice or not to (``research/training/proofs.py``).
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from pathlib import Path

import torch
from torch.nn import Module
from torch.nn.functional import cross_entropy

from research.training.card import Card, write_card, write_config
from research.training.compositions import compositions
from research.training.data import TrainingData, load_data
from research.training.figures import DEV, OTHERS, TUNING
from research.training.lexicon import Lexicon
from research.training.loop import Hyperparameters, Loss, switch_off_dropout, train
from research.training.networks.delta import save_delta
from research.training.networks.minilm import row_tokenizer, trained_classifier
from research.training.networks.proof import (
    ProofInputs,
    ProofNetwork,
    packaged_proof_network,
    proof_inputs,
)
from research.training.proofs import ProofExample, proof_examples
from research.training.prover_figures import (
    DevSets,
    Opinion,
    fitted_cutoff,
    fitted_temperature,
    scaled,
    sufficiency_figures,
)
from research.training.token_vectors import MiniLMTokens
from research.training.wordnet import DATABASE
from retrieval.models.networks import Tokenizer
from retrieval.models.prover import ProofModel
from retrieval.system.files import digest_of
from retrieval.text.model_texts import evidence_set_text

RECIPE = Hyperparameters(
    epochs=2,
    batch_size=32,
    learning_rate=1e-4,
    weight_decay=0.01,
    warmup=0.06,
    max_tokens=224,
    seed=0,
)
COMPOSED = 2_400  # claims made from two pages
PROOFS = 26_000
# The weight of each of OPERATORS in the loss: two thirds of all are equivalences.
WEIGHTS = (1.0, 2.0, 2.0, 1.2)
POINTING = 0.5  # the weight of start and end
UNFITTED = 0.5  # the cutoff for the figures in the log
VERSION = "1"  # of the shipped model; the results of two versions are never mixed
RANK = 64  # of the shipped difference to the packaged weights


def train_prover(
    data_folder: Path, wordnet: Path, relevance_model: Path, run: Path, out: Path
) -> None:
    """Train the prover, write it to ``out`` and its logs and checkpoints to ``run``.

    ``wordnet`` is the folder of WordNet's database, ``relevance_model`` that of the trained
    relevance model.

    Raises:
        BadSource: the data or WordNet cannot be read.
        ModelUnavailable: the relevance model is missing.
    """
    lexicon = Lexicon(wordnet)
    tokenizer = row_tokenizer(RECIPE.max_tokens)
    network = network_from_relevance_model(relevance_model)
    data = load_data(data_folder, run.parent / "vectors", RECIPE.seed)
    made = compositions(data, RECIPE.seed, COMPOSED)
    examples = proof_examples(data, made, lexicon, MiniLMTokens(), RECIPE.seed, PROOFS)
    tuning, others, dev = (DevSets.of(data, part, RECIPE.seed) for part in (TUNING, OTHERS, DEV))

    def opinions(sets: DevSets) -> list[Opinion]:
        return network_opinions(network, tokenizer, sets, RECIPE.max_tokens)

    def figures(_: Module) -> dict[str, float]:
        return sufficiency_figures(opinions(tuning), tuning, UNFITTED)

    loss_of = proof_loss(network, tokenizer, RECIPE.max_tokens)
    train(network, examples, loss_of, RECIPE, run, figures)
    predicted = opinions(others)
    temperature = round(fitted_temperature(predicted, others), 2)
    cutoff = fitted_cutoff([scaled(opinion, temperature) for opinion in predicted], others)
    trained = [scaled(opinion, temperature) for opinion in opinions(dev)]
    digest = save_delta(network, packaged_proof_network(), out / "delta.safetensors", RANK)
    write_config(out, "MiniLM prover", VERSION, RECIPE.max_tokens, digest, temperature=temperature)
    model = ProofModel(out)
    shipped = [
        model.read(one.claim, spans, evidence_set_text(one.sentences)).operators
        for one, spans in zip(dev.sets, dev.spans, strict=True)
    ]
    write_card(
        out,
        _card(data, wordnet, made, examples, dev, cutoff, temperature),
        {"proofs": RECIPE},
        {
            "as trained": sufficiency_figures(trained, dev, cutoff),
            "as shipped": sufficiency_figures(shipped, dev, cutoff),
        },
    )


def _card(
    data: TrainingData,
    wordnet: Path,
    made: Sized,
    examples: Sized,
    dev: DevSets,
    cutoff: float,
    temperature: float,
) -> Card:
    return Card(
        name="Prover",
        purpose="Reads a claim, cut into spans, beside evidence: what does the evidence say about"
        " each span, and where? Evidence suffices if no span is open (AdMIRaL, section 3.2).",
        architecture="The packaged all-MiniLM-L6-v2 weights"
        " (`research/training/networks/minilm.py`), trained from the relevance model's, with heads"
        " that point from each span into the evidence and name its operator"
        f" (`research/training/networks/proof.py`). A difference of rank {RANK} and the heads,"
        " whole; the embeddings are unchanged.",
        data=f"{data.described}. {len(made)} claims over two pages composed from training claims"
        f" and pages (`research/training/compositions`). {len(examples)} proofs of claims beside"
        " evidence that suffices or does not, made with WordNet 3.0 and the packaged model's"
        " vectors (`research/training/proofs.py`).",
        digests=data.digests | {f"wordnet/{name}": digest_of(wordnet / name) for name in DATABASE},
        commands=(
            "apt-get install wordnet-base",
            "esoteric train prover --data DATA --wordnet /usr/share/wordnet",
        ),
        definitions=f"{len(dev.sets)} evidence sets of one in {DEV[0]} dev claims, made as those of"
        " training are: gold sentences among others, gold sets with a sentence left out, other"
        " sentences of the gold pages (which may be evidence that was not annotated), sentences"
        " retrieved beside undecided claims. balanced: the mean share of sets that suffice and of"
        " sets that do not that are classified correctly, %. open_precision, open_recall: of the"
        " sets that do not suffice, %. two_pages: balanced, of claims that need two pages, whole"
        " sets against those with a sentence left out. label: sets that suffice whose proof gives"
        f" the claim's label, %. A span is open from a probability of {cutoff:.2f} on; that and"
        f" the temperature, {temperature:.2f}, were fitted to other dev claims ({len(OTHERS[1])} in"
        f" {OTHERS[0]}).",
    )


def network_from_relevance_model(relevance_model: Path) -> ProofNetwork:
    """Return new heads on the relevance model's weights, with frozen embeddings, without dropout.

    Raises:
        ModelUnavailable: the relevance model is missing or damaged.
    """
    network = packaged_proof_network()
    network.distilbert.load_state_dict(trained_classifier(relevance_model).distilbert.state_dict())
    network.distilbert.embeddings.requires_grad_(False)
    switch_off_dropout(network)
    return network


def proof_loss(network: ProofNetwork, tokenizer: Tokenizer, max_tokens: int) -> Loss[ProofExample]:
    """Return the cross entropy of operators, and of start and end if they are known."""
    weights = torch.tensor(WEIGHTS)

    def loss_of(batch: Sequence[ProofExample]) -> torch.Tensor:
        inputs = proof_inputs(
            tokenizer,
            [example.claim for example in batch],
            [example.spans for example in batch],
            [example.evidence for example in batch],
            max_tokens,
        )
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = network(inputs)
        seen = inputs.span_mask
        wanted = torch.zeros_like(seen, dtype=torch.long)
        for row, example in enumerate(batch):
            wanted[row, : len(example.operators)] = torch.tensor(example.operators)
        loss = cross_entropy(logits.operators[seen], wanted[seen], weight=weights)
        rows, spans, first, last = _pointed_at(batch, inputs)
        if not rows:
            return loss
        starts = cross_entropy(logits.starts[rows, spans], torch.tensor(first))
        ends = cross_entropy(logits.ends[rows, spans], torch.tensor(last))
        return loss + POINTING * (starts + ends) / 2

    return loss_of


def _pointed_at(
    batch: Sequence[ProofExample], inputs: ProofInputs
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return example, span, first and last token of each alignment in the network's window."""
    found: tuple[list[int], list[int], list[int], list[int]] = ([], [], [], [])
    for row, example in enumerate(batch):
        begins, ends = inputs.offsets[row].unbind(dim=-1)
        for span, place in enumerate(example.aligned):
            if place is None or not inputs.span_mask[row, span]:
                continue
            within = inputs.evidence[row] & (begins < place[1]) & (ends > place[0])
            tokens = within.nonzero()
            # Words that are cut off at the end of the evidence have no token.
            if len(tokens) and int(ends[tokens[-1]]) >= place[1]:
                for values, value in zip(
                    found, (row, span, int(tokens[0]), int(tokens[-1])), strict=True
                ):
                    values.append(value)
    return found


def network_opinions(
    network: ProofNetwork, tokenizer: Tokenizer, dev: DevSets, max_tokens: int
) -> list[Opinion]:
    """Return the network's probabilities for the spans of each set."""
    texts = [evidence_set_text(one.sentences) for one in dev.sets]
    order = sorted(range(len(texts)), key=lambda i: len(dev.sets[i].claim) + len(texts[i]))
    found: dict[int, Opinion] = {}
    for start in range(0, len(order), 64):
        part = order[start : start + 64]
        inputs = proof_inputs(
            tokenizer,
            [dev.sets[i].claim for i in part],
            [dev.spans[i] for i in part],
            [texts[i] for i in part],
            max_tokens,
        )
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
            operators = torch.softmax(network(inputs).operators.float(), dim=-1).numpy()
        for row, i in enumerate(part):
            found[i] = operators[row, : len(dev.spans[i])]
    return [found[i] for i in range(len(texts))]
