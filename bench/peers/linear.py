"""PyTorch's linear layer and its gradients on the cases of bench/cases/linear.cpp.

    python bench/peers/linear.py --fovea build/release/fovea
"""

import torch

from peer import Row, compare


def rows_of(rows: int, columns: int, depth: int) -> list[Row]:
    x, w, dy = torch.randn(rows, depth), torch.randn(columns, depth), torch.randn(rows, columns)
    case = f"rows={rows} columns={columns} depth={depth}"
    operations = 2.0 * rows * columns * depth
    return [
        Row("linear", case, operations, lambda: torch.nn.functional.linear(x, w)),
        Row("linear_dx", case, operations, lambda: dy @ w),
        Row("linear_dw", case, operations, lambda: dy.t() @ x),
    ]


def main() -> None:
    rows = [row for shape in ((512, 768, 768), (512, 3072, 768), (512, 768, 3072)) for row in rows_of(*shape)]
    x, w = torch.randn(1, 768), torch.randn(3072, 768)
    rows.append(Row("linear_few_rows", "rows=1 columns=3072 depth=768", 4.0 * 3072 * 768,
                    lambda: torch.nn.functional.linear(x, w)))
    with torch.no_grad():
        compare("linear", rows)


if __name__ == "__main__":
    main()
