"""The papers that judges name in short ("Lin 2004"), in full."""

from __future__ import annotations

import re
from collections.abc import Mapping

PAPERS: Mapping[str, str] = {
    "Angelopoulos et al. 2021": (
        "Angelopoulos, Bates, Candès, Jordan & Lei. Learn then Test: Calibrating Predictive "
        "Algorithms to Achieve Risk Control. arXiv:2110.01052, 2021."
    ),
    "Angelopoulos et al. 2024": (
        "Angelopoulos, Bates, Fisch, Lei & Schuster. Conformal Risk Control. ICLR 2024."
    ),
    "Bulian et al. 2022": (
        "Bulian, Buck, Gajewski, Börschinger & Schuster. Tomayto, Tomahto. Beyond Token-level "
        "Answer Equivalence for Question Answering Evaluation. EMNLP 2022."
    ),
    "Kamalloo et al. 2023": (
        "Kamalloo, Dziri, Clarke & Rafiei. Evaluating Open-Domain Question Answering in the Era of "
        "Large Language Models. ACL 2023."
    ),
    "Lin 2004": (
        "Lin. ROUGE: A Package for Automatic Evaluation of Summaries. Text Summarization Branches "
        "Out, 2004."
    ),
    "Papineni et al. 2002": (
        "Papineni, Roukos, Ward & Zhu. Bleu: a Method for Automatic Evaluation of Machine "
        "Translation. ACL 2002."
    ),
    "Platt 1999": (
        "Platt. Probabilistic Outputs for Support Vector Machines and Comparisons to Regularized "
        "Likelihood Methods. Advances in Large Margin Classifiers, 1999."
    ),
    "Post 2018": "Post. A Call for Clarity in Reporting BLEU Scores. WMT 2018.",
    "Rajpurkar et al. 2016": (
        "Rajpurkar, Zhang, Lopyrev & Liang. SQuAD: 100,000+ Questions for Machine Comprehension of "
        "Text. EMNLP 2016."
    ),
    "Reimers & Gurevych 2019": (
        "Reimers & Gurevych. Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks. "
        "EMNLP 2019."
    ),
    "Sellam et al. 2020": (
        "Sellam, Das & Parikh. BLEURT: Learning Robust Metrics for Text Generation. ACL 2020."
    ),
    "Verga et al. 2024": (
        "Verga, Hofstätter, Althammer, Su, Piktus, Arkhangorodsky, Xu, White & Lewis. Replacing "
        "Judges with Juries: Evaluating LLM Generations with a Panel of Diverse Models. "
        "arXiv:2404.18796, 2024."
    ),
    "Wang et al. 2023": (
        "Wang, Cheng, Guo, Yue, Ding, Xu, Wang, Hu, Zhang & Zhang. Evaluating Open-QA Evaluation. "
        "NeurIPS 2023, Datasets and Benchmarks."
    ),
    "Wei et al. 2022": (
        "Wei, Wang, Schuurmans, Bosma, Ichter, Xia, Chi, Le & Zhou. Chain-of-Thought Prompting "
        "Elicits Reasoning in Large Language Models. NeurIPS 2022."
    ),
    "Yang et al. 2024": (
        "Yang, Bi, Cui, Guo & Cheng. LINKAGE: Listwise Ranking among Varied-Quality References for "
        "Non-Factoid QA Evaluation via LLMs. Findings of EMNLP 2024."
    ),
    "Yao & Barbosa 2024": (
        "Yao & Barbosa. Accurate and Nuanced Open-QA Evaluation Through Textual Entailment. "
        "Findings of ACL 2024."
    ),
    "Zadrozny & Elkan 2002": (
        "Zadrozny & Elkan. Transforming Classifier Scores into Accurate Multiclass Probability "
        "Estimates. KDD 2002."
    ),
    "Zhang et al. 2020": (
        "Zhang, Kishore, Wu, Weinberger & Artzi. BERTScore: Evaluating Text Generation with BERT. "
        "ICLR 2020."
    ),
    "Zhang et al. 2022": (
        "Zhang, Zhang, Li & Smola. Automatic Chain of Thought Prompting in Large Language Models. "
        "arXiv:2210.03493, 2022."
    ),
    "Zheng et al. 2023": (
        "Zheng, Chiang, Sheng, Zhuang, Wu, Zhuang, Lin, Li, Li, Xing, Zhang, Gonzalez & Stoica. "
        "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena. NeurIPS 2023, Datasets and "
        "Benchmarks."
    ),
}
"""Authors, title, venue and year, by what a judge's `paper` names."""

_AND_YEAR = re.compile(r"([A-Z][\w.& ]*?) (\d{4}) and (\d{4})")


def references(paper: str) -> list[str]:
    """The papers that a judge's `paper` names, in full, as they are named."""
    spelled = _AND_YEAR.sub(r"\1 \2; \1 \3", paper)
    named = [name for name in PAPERS if re.search(rf"\b{re.escape(name)}\b", spelled)]
    return [PAPERS[name] for name in sorted(named, key=spelled.index)]
