"""Monthly means from the weekly record that the package statsmodels carries.

Run once, with statsmodels installed, from the root of the repository:

    python -m examples.co2.data.make_csv
"""

from pathlib import Path

import statsmodels.datasets.co2

HEADER = """\
# Atmospheric CO2 at Mauna Loa, Hawaii, monthly means in ppmv of weekly flask samples.
# Source: C.D. Keeling and T.P. Whorf (2004), Atmospheric CO2 concentrations derived
# from flask air samples at sites in the SIO network, in Trends: A Compendium of Data on
# Global Change, CDIAC, Oak Ridge National Laboratory. Public domain.
# Made from statsmodels.datasets.co2 by make_csv.py; months without samples left out.
year,month,co2,weeks
"""


def main() -> None:
    """Write mauna_loa_monthly.csv beside this file."""
    weekly = statsmodels.datasets.co2.load_pandas().data["co2"].dropna()
    months = weekly.groupby([weekly.index.year, weekly.index.month])
    rows = [
        f"{year},{month},{values.mean():.3f},{len(values)}\n"
        for (year, month), values in months
    ]
    Path(__file__).with_name("mauna_loa_monthly.csv").write_text(
        HEADER + "".join(rows), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
