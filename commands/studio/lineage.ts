/** What a result was made from: said in words, and linked to where the platform can. */
import type { Button, Field } from '../../src/message.ts';
import type { JobView } from '../../src/work.ts';
import { beginning } from '../text.ts';

/** Discord's and Slack's buttons take about this many characters. */
const LABEL_LENGTH = 75;

export interface Lineage {
  readonly fields: readonly Field[];
  readonly actions: readonly Button[];
}

export function lineage({ madeFrom, parentUrl }: JobView): Lineage {
  return {
    fields: madeFrom === undefined ? [] : [{ name: 'Made from', value: madeFrom }],
    actions:
      parentUrl === undefined
        ? []
        : [{ type: 'link', url: parentUrl, label: label(madeFrom ?? 'what it was made from') }],
  };
}

function label(madeFrom: string): string {
  const text = `To ${madeFrom}`;
  return text.length <= LABEL_LENGTH ? text : `${beginning(text, LABEL_LENGTH - 1)}…`;
}
