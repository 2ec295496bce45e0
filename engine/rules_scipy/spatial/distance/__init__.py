"""`scipy.spatial.distance` for every framework.

Functions and tables of distances, in array-API code: frameworks trace, compile and
batch it. A table computes all differences first, which takes the memory of all pairs.
"""

from ._tables import cdist as cdist, pdist as pdist, squareform as squareform
from ._vectors import (
    braycurtis as braycurtis,
    canberra as canberra,
    chebyshev as chebyshev,
    cityblock as cityblock,
    correlation as correlation,
    cosine as cosine,
    dice as dice,
    directed_hausdorff as directed_hausdorff,
    euclidean as euclidean,
    hamming as hamming,
    jaccard as jaccard,
    jensenshannon as jensenshannon,
    mahalanobis as mahalanobis,
    minkowski as minkowski,
    rogerstanimoto as rogerstanimoto,
    russellrao as russellrao,
    seuclidean as seuclidean,
    sokalsneath as sokalsneath,
    sqeuclidean as sqeuclidean,
    yule as yule,
)
