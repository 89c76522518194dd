import { elementProblems, feedbackProblems, imageProblems } from './elements.ts';
import { asFields, asList, type Fields, isFields } from './json.ts';
import { SLACK } from './limits.ts';
import { Problems } from './problems.ts';

export type Surface = 'message' | 'modal' | 'home';

const ALLOWED: Readonly<Record<Surface, readonly string[]>> = {
  message: [
    'actions',
    'context',
    'context_actions',
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
