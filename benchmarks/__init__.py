"""What the documents print about the product in figures: `make bench`, and the scripts they name.

- Speed and memory, compared with the libraries people use today: `python -m benchmarks`, and
  `agreement`, `annotate`, `chat`, `cluster`, `jobs`, `memory`, `report`, `service`, `startup`, ...
- Simulations in which the truth is known: `coverage`, `sequences`, `decisions`, `diff_power`, and
  other packages on the same draws, `peer_estimates`, `peer_intervals`, `peer_judgy`.
- Agreement with people's labels: `judges`, `examiner`, `entailment`, `listwise --quality`,
  `values`, `side_by_side`; and the damage that is noticed: `hostile`.

The scripts of the third kind train nothing and offer nothing to users, whose command for it is
`markscheme research bench`: they run the product against recorded labels and print tables, most of
them with its speed. So they are here, rather than in the research package.
"""
