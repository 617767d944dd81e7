#!/usr/bin/env python3
"""Several agents over one policy, out of process: each function of a program is an agent with a server of its own (`--form=server`), and decides in
turn about its loops.   agents.py SERVER SPEC.json

The environment is the cost of the whole program: what the loops take, and a penalty once their bodies together leave the cache of decoded
instructions, which no agent can see. After each round the agent whose loops took the most room gives up its largest factor."""

import contextlib
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from make_model import FACTORS, cost, loops  # the environment of the training
from ml2kokkos.policy import Policy

AGENTS, LOOPS, CACHE = 4, 6, 1100


def program_cost(functions, factors):
    alone = sum(cost(loops)[np.arange(LOOPS), chosen].sum() for loops, chosen in zip(functions, factors))
    room = sum((loops[:, 2] * FACTORS[chosen]).sum() for loops, chosen in zip(functions, factors))
    return alone + 0.05 * max(0, room - CACHE)


def main():
    server, spec = sys.argv[1:]
    functions = [loops(LOOPS) for _ in range(AGENTS)]
    with contextlib.ExitStack() as stack:
        agents = [stack.enter_context(Policy(server, spec)) for _ in range(AGENTS)]
        factors = [np.zeros(LOOPS, np.int64) for _ in range(AGENTS)]
        for loop in range(LOOPS):  # in turn, all processes alive at once
            for agent, function, chosen in zip(agents, functions, factors):
                chosen[loop] = agent(loop=function[loop])
    rolled, advised = program_cost(functions, [np.zeros(LOOPS, np.int64)] * AGENTS), program_cost(functions, factors)
    best = advised
    for _ in range(AGENTS * LOOPS):
        room = [function[:, 2] * FACTORS[chosen] * (chosen > 0) for function, chosen in zip(functions, factors)]
        agent = int(np.argmax([r.sum() for r in room]))
        factors[agent][int(np.argmax(room[agent]))] = 0
        best = min(best, program_cost(functions, factors))
    print(f"{AGENTS} agents, {AGENTS * LOOPS} loops: cost {rolled:.1f} rolled, {advised:.1f} as each agent decides, {best:.1f} after they share the cache")
    sys.exit(0 if best <= advised < rolled else 1)


if __name__ == "__main__":
    main()
