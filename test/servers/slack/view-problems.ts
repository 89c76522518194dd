import { blockProblems } from './blocks.ts';
import { asFields, asList, isFields } from './json.ts';
import { SLACK } from './limits.ts';
import { Problems } from './problems.ts';

/** Returns the reasons for `invalid_arguments`; empty if the view is valid. */
export function viewProblems(view: unknown): string[] {
  const problems = new Problems();
  if (!isFields(view)) return ['must be an object [json-pointer:/view]'];
  const { type } = view;
  if (type !== 'modal' && type !== 'home') {
    problems.add('/view/type', `unsupported type: ${String(type)}`);
    return problems.list;
  }
  if (type === 'modal') {
    problems.textObject('/view/title', view.title, SLACK.viewTitle, 'plain_text');
    for (const key of ['submit', 'close'] as const) {
      if (view[key] !== undefined)
        problems.textObject(`/view/${key}`, view[key], SLACK.viewButton, 'plain_text');
    }
    const hasInput = asList(view.blocks).some((block) => asFields(block).type === 'input');
    if (hasInput && view.submit === undefined) problems.add('/view/submit', 'missing required field: submit');
  } else {
    for (const key of ['title', 'submit', 'close']) {
      if (view[key] !== undefined) problems.add(`/view/${key}`, `invalid additional property: ${key}`);
    }
  }
  if (view.private_metadata !== undefined) {
    problems.text('/view/private_metadata', view.private_metadata, 0, SLACK.privateMetadata);
  }
  if (view.callback_id !== undefined)
    problems.text('/view/callback_id', view.callback_id, 0, SLACK.callbackId);
  if (asList(view.blocks).length === 0) problems.add('/view/blocks', 'must contain at least 1 item');
  return [...problems.list, ...blockProblems(view.blocks, type)];
}
