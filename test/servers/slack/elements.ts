import { asFields, asList, type Fields, isFields } from './json.ts';
import { SLACK } from './limits.ts';
import type { Problems } from './problems.ts';

type Parent = 'section' | 'actions' | 'input';

const BUTTONS_AND_MENUS = [
  'button',
  'checkboxes',
  'datepicker',
  'overflow',
  'radio_buttons',
  'static_select',
  'external_select',
  'multi_static_select',
  'multi_external_select',
  'users_select',
  'conversations_select',
  'channels_select',
  'timepicker',
];

const ALLOWED: Readonly<Record<Parent, readonly string[]>> = {
  section: [...BUTTONS_AND_MENUS, 'image'],
  actions: BUTTONS_AND_MENUS,
  input: [
    'plain_text_input',
    'number_input',
    'email_text_input',
    'url_text_input',
    'checkboxes',
    'radio_buttons',
    'static_select',
    'external_select',
    'multi_static_select',
    'multi_external_select',
    'conversations_select',
    'channels_select',
    'users_select',
    'datepicker',
    'timepicker',
    'file_input',
  ],
};

const OF_IMAGE = new Set(['type', 'block_id', 'alt_text', 'title', 'image_url', 'slack_file']);

/** Adds the reasons why Slack would refuse this image block or element. */
export function imageProblems(problems: Problems, at: string, image: Fields): void {
  for (const key of Object.keys(image))
    if (!OF_IMAGE.has(key)) problems.add(`${at}/${key}`, `invalid additional property: ${key}`);
  problems.text(`${at}/alt_text`, image.alt_text, 1, SLACK.altText);
  if (image.slack_file !== undefined) return;
  problems.text(`${at}/image_url`, image.image_url, 1, SLACK.imageUrl);
  const url = String(image.image_url);
  if (!/^https?:\/\//.test(url)) problems.add(`${at}/image_url`, 'must be a valid URL');
  else if (url.startsWith(SLACK.filesUrl)) problems.add(`${at}/image_url`, 'downloading image failed');
}

/** Adds the reasons why Slack would refuse this element in its parent. */
export function elementProblems(problems: Problems, at: string, value: unknown, parent: Parent): void {
  if (!isFields(value)) {
    problems.add(at, 'missing required field: element');
    return;
  }
  const type = String(value.type);
  if (!ALLOWED[parent].includes(type)) {
    problems.add(`${at}/type`, `unsupported type: ${type}`);
    return;
  }
  if (type === 'image') {
    imageProblems(problems, at, value);
    return;
  }
  if (value.action_id !== undefined) problems.text(`${at}/action_id`, value.action_id, 1, SLACK.actionId);
  if (value.placeholder !== undefined) {
    problems.textObject(`${at}/placeholder`, value.placeholder, SLACK.placeholder, 'plain_text');
  }
  if (value.confirm !== undefined) confirmProblems(problems, `${at}/confirm`, value.confirm);
  if (value.initial_option !== undefined)
    optionProblems(problems, `${at}/initial_option`, [value.initial_option], 1);
  switch (type) {
    case 'button':
      problems.textObject(`${at}/text`, value.text, SLACK.buttonText, 'plain_text');
      if (value.value !== undefined) problems.text(`${at}/value`, value.value, 1, SLACK.buttonValue);
      if (value.url !== undefined) problems.text(`${at}/url`, value.url, 1, SLACK.url);
      if (value.accessibility_label !== undefined)
        problems.text(`${at}/accessibility_label`, value.accessibility_label, 1, SLACK.buttonText);
      if (value.style !== undefined && value.style !== 'primary' && value.style !== 'danger') {
        problems.add(`${at}/style`, 'must be primary or danger');
      }
      break;
    case 'static_select':
    case 'multi_static_select':
      if (value.option_groups !== undefined)
        groupProblems(problems, `${at}/option_groups`, value.option_groups);
      else optionProblems(problems, `${at}/options`, value.options, SLACK.options);
      initialProblem(problems, at, value.initial_option, [
        ...asList(value.options),
        ...asList(value.option_groups).flatMap((group) => asList(asFields(group).options)),
      ]);
      break;
    case 'radio_buttons':
      optionProblems(problems, `${at}/options`, value.options, SLACK.radioOptions);
      initialProblem(problems, at, value.initial_option, asList(value.options));
      break;
    case 'checkboxes':
      optionProblems(problems, `${at}/options`, value.options, SLACK.checkboxOptions);
      for (const option of asList(value.initial_options))
        initialProblem(problems, at, option, asList(value.options));
      break;
    case 'overflow':
      optionProblems(problems, `${at}/options`, value.options, SLACK.overflowOptions);
      break;
    case 'plain_text_input': {
      const least = value.min_length ?? 0;
      const most = value.max_length ?? SLACK.plainTextInput;
      if (typeof least !== 'number' || least < 0 || least > SLACK.plainTextInput) {
        problems.add(`${at}/min_length`, `must be between 0 and ${SLACK.plainTextInput}`);
      }
      if (typeof most !== 'number' || most < 1 || most > SLACK.plainTextInput) {
        problems.add(`${at}/max_length`, `must be between 1 and ${SLACK.plainTextInput}`);
      }
      if (value.initial_value !== undefined) {
        problems.text(
          `${at}/initial_value`,
          value.initial_value,
          0,
          typeof most === 'number' ? most : SLACK.plainTextInput,
        );
      }
      break;
    }
    case 'number_input':
      if (typeof value.is_decimal_allowed !== 'boolean') {
        problems.add(`${at}/is_decimal_allowed`, 'missing required field');
      }
      for (const key of ['min_value', 'max_value', 'initial_value']) {
        if (value[key] !== undefined && typeof value[key] !== 'string')
          problems.add(`${at}/${key}`, 'must be a string');
      }
      break;
    case 'file_input':
      if (value.max_files !== undefined) {
        const files = value.max_files;
        if (typeof files !== 'number' || files < 1 || files > SLACK.inputFiles) {
          problems.add(`${at}/max_files`, `must be between 1 and ${SLACK.inputFiles}`);
        }
      }
      if (value.filetypes !== undefined) {
        problems.items(`${at}/filetypes`, value.filetypes, 1, 100);
        for (const filetype of asList(value.filetypes)) {
          if (typeof filetype !== 'string' || !/^[a-z0-9]+$/.test(filetype)) {
            problems.add(`${at}/filetypes`, `unsupported file type: ${String(filetype)}`);
          }
        }
      }
      break;
    default:
      break;
  }
}

/** https://docs.slack.dev/reference/block-kit/block-elements/feedback-buttons-element */
export function feedbackProblems(problems: Problems, at: string, element: Fields): void {
  if (element.type !== 'feedback_buttons') {
    problems.add(`${at}/type`, `unsupported type: ${String(element.type)}`);
    return;
  }
  if (element.action_id !== undefined) problems.text(`${at}/action_id`, element.action_id, 1, SLACK.actionId);
  for (const name of ['positive_button', 'negative_button']) {
    const { text, value, accessibility_label: label } = asFields(element[name]);
    problems.textObject(`${at}/${name}/text`, text, SLACK.feedbackText, 'plain_text');
    problems.text(`${at}/${name}/value`, value, 1, SLACK.buttonValue);
    if (label !== undefined) problems.text(`${at}/${name}/accessibility_label`, label, 1, SLACK.feedbackText);
  }
}

/** Adds the reasons why Slack would refuse a list of options. */
export function optionProblems(problems: Problems, at: string, value: unknown, most: number): void {
  problems.items(at, value, 1, most);
  const values = new Set<unknown>();
  asList(value).forEach((option, index) => {
    const { text, value: optionValue, description } = asFields(option);
    problems.textObject(`${at}/${index}/text`, text, SLACK.optionText);
    problems.text(`${at}/${index}/value`, optionValue, 1, SLACK.optionValue);
    if (description !== undefined) {
      problems.textObject(`${at}/${index}/description`, description, SLACK.optionDescription);
    }
    if (values.has(optionValue)) problems.add(`${at}/${index}/value`, 'duplicate option value');
    values.add(optionValue);
  });
}

function groupProblems(problems: Problems, at: string, value: unknown): void {
  problems.items(at, value, 1, SLACK.optionGroups);
  asList(value).forEach((group, index) => {
    const { label, options } = asFields(group);
    problems.textObject(`${at}/${index}/label`, label, SLACK.groupLabel, 'plain_text');
    optionProblems(problems, `${at}/${index}/options`, options, SLACK.options);
  });
}

function initialProblem(problems: Problems, at: string, initial: unknown, options: readonly unknown[]): void {
  if (initial === undefined) return;
  const same = options.some((option) => JSON.stringify(option) === JSON.stringify(initial));
  if (!same) problems.add(`${at}/initial_option`, 'initial option must be one of the options');
}

function confirmProblems(problems: Problems, at: string, value: unknown): void {
  const { title, text, confirm, deny } = asFields(value);
  problems.textObject(`${at}/title`, title, SLACK.confirmTitle, 'plain_text');
  problems.textObject(`${at}/text`, text, SLACK.confirmText);
  problems.textObject(`${at}/confirm`, confirm, SLACK.confirmButton, 'plain_text');
  problems.textObject(`${at}/deny`, deny, SLACK.confirmButton, 'plain_text');
}
