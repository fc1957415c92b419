"""The table that bench.sh prints of a comparison: medians, and the pairs' ratios.

Usage: table.py <TSV       the lines of a script in this folder: see bench.sh
"""
import statistics
import sys

from lib.arguments import Parser


def verdict(aim, ratio):
    """Whether a ratio of two decimals, which is what is printed of it, meets its aim."""
    if aim == '-':
        return ''
    sign, limit = (aim.split() + ['1'])[:2]
    is_met = ratio >= float(limit) - 0.005 if sign == '>=' else ratio < float(limit) + 0.005
    return f'  aim {sign} {limit}: {"met" if is_met else "MISSED"}'


def main():
    """Prints it."""
    Parser(__doc__).parse_args()
    head, rows = ('', '', ''), {}
    for line in sys.stdin:
        cells = line.rstrip('\n').split('\t')
        if line.startswith('#'):
            head = cells[0][1:], *cells[1:]
        else:
            rows.setdefault(cells[0], []).append((float(cells[1]), float(cells[2]), *cells[3:]))
    print('{:25} {:>10} {:>10} {:5} ratio'.format(*head, ''))
    for what, pairs in rows.items():
        first, second, units, aims = zip(*pairs)
        line = f'{what:25} {statistics.median(first):10.1f} {statistics.median(second):10.1f}'
        if aims[0] != 'none':
            ratios = [one / other for one, other in zip(first, second)]
            middle = statistics.median(ratios)
            line += f' {units[0]:5} {middle:5.2f} ({min(ratios):.2f} .. {max(ratios):.2f}){verdict(aims[0], middle)}'
        print(line)


if __name__ == '__main__':
    main()
