"""Statistics of ranks and counts, which are constant between ties."""

from __future__ import annotations

import scipy.stats as st

from ._declare import constant

constant(
    *[
        getattr(st, name)
        for name in (
            "ansari brunnermunzel chatterjeexi cramervonmises_2samp friedmanchisquare "
            "kendalltau kruskal ks_2samp mannwhitneyu median_test mood page_trend_test "
            "percentileofscore rankdata ranksums somersd spearmanr spearmanrho "
            "tiecorrect weightedtau wilcoxon"
        ).split()
        if hasattr(st, name)
    ]
)
