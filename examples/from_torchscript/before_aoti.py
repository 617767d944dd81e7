"""Before: a package of AOTInductor. before_aoti.py net.pt2"""

import sys

import torch

cells = 5
net = torch._inductor.aoti_load_package(sys.argv[1])
state = torch.sin(torch.arange(4 * cells, dtype=torch.float32)).reshape(cells, 4)
with torch.no_grad():
    for heating, moistening in net(state).tolist():
        print(f"{heating:.5f} {moistening:.5f}")
