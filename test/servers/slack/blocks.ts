import { elementProblems, feedbackProblems, imageProblems } from './elements.ts';
import { asFields, asList, type Fields, isFields } from './json.ts';
import { SLACK } from './limits.ts';
import { Problems } from './problems.ts';

export type Surface = 'message' | 'modal' | 'home';

const ALLOWED: Readonly<Record<Surface, readonly string[]>> = {
  message: [
    'actions',
    'card',
    'context',
    'context_actions',
    'data_table',
    'data_visualization',
    'divider',
    'file',
    'header',
    'image',
    'markdown',
    'rich_text',
    'section',
    'table',
    'video',
    'input',
    'plan',
    'task_card',
  ],
  modal: ['actions', 'context', 'divider', 'header', 'image', 'input', 'rich_text', 'section', 'video'],
  home: ['actions', 'context', 'divider', 'header', 'image', 'input', 'rich_text', 'section', 'video'],
};

/** Returns the reasons for `invalid_blocks`, with JSON pointers; empty if the blocks are valid. */
export function blockProblems(blocks: unknown, surface: Surface): string[] {
  const problems = new Problems();
  if (!Array.isArray(blocks)) return ['blocks must be an array [json-pointer:/blocks]'];
  const most = surface === 'message' ? SLACK.blocksPerMessage : SLACK.blocksPerView;
  if (blocks.length > most) problems.add('/blocks', `no more than ${most} items allowed`);
  unique(problems, blocks, 'block_id');
  const actionIds = blocks.flatMap(elementsOf);
  unique(problems, actionIds, 'action_id');
  blocks.forEach((block, index) => {
    blockProblem(problems, `/blocks/${index}`, block, surface);
  });
  const markdown = blocks.reduce<number>((sum, block) => {
    const { type, text } = asFields(block);
    return sum + (type === 'markdown' && typeof text === 'string' ? text.length : 0);
  }, 0);
  if (markdown > SLACK.markdownTotal) {
    problems.add('/blocks', `markdown text must be less than ${SLACK.markdownTotal + 1} characters in all`);
  }
  return problems.list;
}

/** Returns the characters of all texts in the blocks, as counted for `msg_blocks_too_long`. */
export function blocksLength(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + blocksLength(item), 0);
  if (!isFields(value)) return 0;
  return Object.entries(value).reduce((sum, [key, inner]) => {
    if (typeof inner === 'string') return sum + (key === 'text' || key === 'alt_text' ? inner.length : 0);
    return sum + blocksLength(inner);
  }, 0);
}

/** Returns the ids of uploaded images shown by the blocks. */
export function slackFiles(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(slackFiles);
  if (!isFields(value)) return [];
  const { id } = asFields(value.slack_file);
  return [...(typeof id === 'string' ? [id] : []), ...Object.values(value).flatMap(slackFiles)];
}

/** Returns every interactive element of a block. */
export function elementsOf(block: unknown): Fields[] {
  const { type, elements, accessory, element } = asFields(block);
  const inside = type === 'actions' || type === 'context_actions' ? asList(elements) : [];
  return [...inside, accessory, element].filter(
    (item): item is Fields => isFields(item) && 'action_id' in item,
  );
}

function unique(problems: Problems, items: readonly unknown[], key: string): void {
  const ids = new Set<unknown>();
  items.forEach((item, index) => {
    const id = asFields(item)[key];
    if (id === undefined) return;
    if (ids.has(id)) problems.add(`/blocks/${index}/${key}`, `\`${key}\` ${String(id)} already exists`);
    ids.add(id);
  });
}

function blockProblem(problems: Problems, at: string, value: unknown, surface: Surface): void {
  if (!isFields(value)) {
    problems.add(at, 'must be an object');
    return;
  }
  const type = value.type;
  if (typeof type !== 'string' || !ALLOWED[surface].includes(type)) {
    problems.add(`${at}/type`, `unsupported type: ${String(type)}`);
    return;
  }
  if ('block_id' in value) problems.text(`${at}/block_id`, value.block_id, 1, SLACK.blockId);
  switch (type) {
    case 'section': {
      if (value.text === undefined && value.fields === undefined)
        problems.add(at, 'missing required field: text');
      if (value.text !== undefined) problems.textObject(`${at}/text`, value.text, SLACK.sectionText);
      if (value.fields !== undefined) {
        problems.items(`${at}/fields`, value.fields, 1, SLACK.sectionFields);
        asList(value.fields).forEach((field, index) => {
          problems.textObject(`${at}/fields/${index}`, field, SLACK.sectionField);
        });
      }
      if (value.accessory !== undefined)
        elementProblems(problems, `${at}/accessory`, value.accessory, 'section');
      break;
    }
    case 'header':
      problems.textObject(`${at}/text`, value.text, SLACK.headerText, 'plain_text');
      break;
    case 'markdown':
      problems.text(`${at}/text`, value.text, 1, SLACK.markdownTotal);
      break;
    case 'context':
      problems.items(`${at}/elements`, value.elements, 1, SLACK.contextElements);
      asList(value.elements).forEach((element, index) => {
        if (asFields(element).type === 'image')
          imageProblems(problems, `${at}/elements/${index}`, asFields(element));
        else problems.textObject(`${at}/elements/${index}`, element, SLACK.contextText);
      });
      break;
    case 'actions':
      problems.items(`${at}/elements`, value.elements, 1, SLACK.actionsElements);
      asList(value.elements).forEach((element, index) => {
        elementProblems(problems, `${at}/elements/${index}`, element, 'actions');
      });
      break;
    case 'context_actions':
      problems.items(`${at}/elements`, value.elements, 1, SLACK.contextActions);
      asList(value.elements).forEach((element, index) => {
        feedbackProblems(problems, `${at}/elements/${index}`, asFields(element));
      });
      break;
    case 'card':
      cardProblems(problems, at, value);
      break;
    case 'data_table':
      tableProblems(problems, at, value);
      break;
    case 'data_visualization':
      chartProblems(problems, at, value);
      break;
    case 'image':
      imageProblems(problems, at, value);
      if (value.title !== undefined) {
        problems.textObject(`${at}/title`, value.title, SLACK.imageTitle, 'plain_text');
      }
      break;
    case 'input':
      problems.textObject(`${at}/label`, value.label, SLACK.inputLabel, 'plain_text');
      if (value.hint !== undefined)
        problems.textObject(`${at}/hint`, value.hint, SLACK.inputHint, 'plain_text');
      elementProblems(problems, `${at}/element`, value.element, 'input');
      break;
    default:
      break;
  }
}

/** https://docs.slack.dev/reference/block-kit/blocks/card-block */
function cardProblems(problems: Problems, at: string, card: Fields): void {
  if (![card.hero_image, card.title, card.actions, card.body].some((part) => part !== undefined))
    problems.add(at, 'missing required field: one of hero_image, title, actions, body');
  for (const image of ['hero_image', 'icon'])
    if (card[image] !== undefined) imageProblems(problems, `${at}/${image}`, asFields(card[image]));
  for (const text of ['title', 'subtitle', 'body'])
    if (card[text] !== undefined)
      problems.textObject(`${at}/${text}`, card[text], text === 'body' ? SLACK.cardBody : SLACK.cardTitle);
  asList(card.actions).forEach((button, index) => {
    elementProblems(problems, `${at}/actions/${index}`, button, 'actions');
  });
}

/** https://docs.slack.dev/reference/block-kit/blocks/data-table-block */
function tableProblems(problems: Problems, at: string, table: Fields): void {
  problems.text(`${at}/caption`, table.caption, 1, SLACK.sectionText);
  problems.items(`${at}/rows`, table.rows, 2, SLACK.tableRows);
  const [head, ...rows] = asList(table.rows).map(asList);
  problems.items(`${at}/rows/0`, head, 1, SLACK.tableColumns);
  if (rows.some((row) => row.length !== head?.length)) problems.add(`${at}/rows`, 'rows differ in length');
  const cells = [...(head ?? []), ...rows.flat()].map(asFields);
  if (cells.reduce((sum, { text }) => sum + String(text).length, 0) > SLACK.tableCharacters)
    problems.add(`${at}/rows`, `must have at most ${SLACK.tableCharacters} characters`);
  for (const cell of cells) {
    const isValid =
      (cell.type === 'raw_text' && typeof cell.text === 'string' && cell.text !== '') ||
      (cell.type === 'raw_number' && typeof cell.value === 'number' && typeof cell.text === 'string');
    if (!isValid) problems.add(`${at}/rows`, `invalid cell: ${JSON.stringify(cell)}`);
  }
  const size = table.page_size ?? 5;
  if (typeof size !== 'number' || size < 1 || size > 100)
    problems.add(`${at}/page_size`, 'must be between 1 and 100');
}

/** https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block */
function chartProblems(problems: Problems, at: string, block: Fields): void {
  problems.text(`${at}/title`, block.title, 1, SLACK.chartTitle);
  const { type, series, axis_config: axis } = asFields(block.chart);
  if (type !== 'bar' && type !== 'line' && type !== 'area') problems.add(`${at}/chart/type`, 'not supported');
  const categories = asList(asFields(axis).categories);
  problems.items(`${at}/chart/axis_config/categories`, categories, 1, SLACK.chartCategories);
  for (const label of categories) problems.text(`${at}/chart/axis_config`, label, 1, SLACK.chartLabel);
  problems.items(`${at}/chart/series`, series, 1, SLACK.chartSeries);
  const names = asList(series).map((one) => asFields(one).name);
  if (new Set(names).size !== names.length) problems.add(`${at}/chart/series`, 'names must be unique');
  for (const { name, data } of asList(series).map(asFields)) {
    problems.text(`${at}/chart/series`, name, 1, SLACK.chartLabel);
    const labels = asList(data).map((point) => asFields(point).label);
    if (JSON.stringify(labels) !== JSON.stringify(categories))
      problems.add(`${at}/chart/series`, 'needs a value for each category');
    if (asList(data).some((point) => !Number.isFinite(asFields(point).value)))
      problems.add(`${at}/chart/series`, 'values must be numbers');
  }
}
