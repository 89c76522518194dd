/** Renders charts and tables as Slack's own blocks. */
import type { types } from '@slack/bolt';
import type { Chart, Message, Table } from '../../../core/message.ts';
import { ellipsis } from '../../../core/util/words.ts';
import { LIMITS } from '../limits.ts';

/** https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block. The SDK has no type for it yet. */
interface ChartBlock extends types.Block {
  readonly type: 'data_visualization';
  readonly title: string;
  readonly chart: {
    readonly type: 'bar';
    readonly series: readonly {
      readonly name: string;
      readonly data: readonly { readonly label: string; readonly value: number }[];
    }[];
    readonly axis_config: { readonly categories: readonly string[] };
  };
}

/** Undefined if they do not fit. */
export function dataBlocks({ data }: Message): types.KnownBlock[] | undefined {
  if (data === undefined) return undefined;
  const blocks = [...(data.chart ? [chartBlock(data.chart)] : []), ...data.tables.map(tableBlock)];
  const known = blocks.filter((block) => block !== undefined);
  // Slack accepts more blocks than its types list.
  return known.length === blocks.length ? (known as types.KnownBlock[]) : undefined;
}

function chartBlock({ title, categories, series }: Chart): ChartBlock | undefined {
  const labels = categories.map((label) => ellipsis(label, LIMITS.chartLabel));
  const names = series.map(({ name }) => ellipsis(name, LIMITS.chartLabel));
  const isValid =
    labels.length > 0 &&
    labels.length <= LIMITS.chartCategories &&
    names.length > 0 &&
    names.length <= LIMITS.chartSeries &&
    [...labels, ...names, title].every((text) => text.trim() !== '') &&
    [labels, names].every((texts) => new Set(texts).size === texts.length);
  if (!isValid) return undefined;
  return {
    type: 'data_visualization',
    title: ellipsis(title, LIMITS.chartTitle),
    chart: {
      type: 'bar',
      series: series.map(({ values }, index) => ({
        name: names[index] ?? '',
        data: labels.map((label, at) => ({ label, value: values[at] ?? 0 })),
      })),
      axis_config: { categories: labels },
    },
  };
}

function tableBlock({ caption, columns, rows }: Table): types.DataTableBlock | undefined {
  const text = (value: string) => ({ type: 'raw_text' as const, text: value.trim() === '' ? '–' : value });
  const cells = [
    columns.map(text),
    ...rows.map((row) =>
      columns.map((_, index) => {
        const value = row[index] ?? '';
        if (typeof value === 'string') return text(value);
        return { type: 'raw_number' as const, value, text: value.toLocaleString('en') };
      }),
    ),
  ];
  const length = cells.flat().reduce((sum, cell) => sum + cell.text.length, 0);
  if (rows.length === 0 || cells.length > LIMITS.tableRows || length > LIMITS.tableCharacters)
    return undefined;
  return { type: 'data_table', caption: text(caption).text, rows: cells, page_size: LIMITS.tablePage };
}
