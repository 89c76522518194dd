import { asFields } from './json.ts';

/** Collects reasons for a refusal in Slack's wording, `must be … [json-pointer:/blocks/0/text]`. */
export class Problems {
  readonly list: string[] = [];

  add(pointer: string, reason: string): void {
    this.list.push(`${reason} [json-pointer:${pointer}]`);
  }

  text(pointer: string, value: unknown, least: number, most: number): void {
    if (typeof value !== 'string') this.add(pointer, 'missing required field');
    else if (value.length < least) this.add(pointer, `must be more than ${least - 1} characters`);
    else if (value.length > most) this.add(pointer, `must be less than ${most + 1} characters`);
  }

  textObject(pointer: string, value: unknown, most: number, only?: 'plain_text'): void {
    const { type, text } = asFields(value);
    if (type !== 'plain_text' && type !== 'mrkdwn')
      this.add(`${pointer}/type`, `unsupported type: ${String(type)}`);
    else if (only !== undefined && type !== only) this.add(`${pointer}/type`, `must be ${only}`);
    this.text(`${pointer}/text`, text, 1, most);
  }

  items(pointer: string, value: unknown, least: number, most: number): void {
    if (!Array.isArray(value)) this.add(pointer, 'missing required field');
    else if (value.length < least) this.add(pointer, `must contain at least ${least} item`);
    else if (value.length > most) this.add(pointer, `no more than ${most} items allowed`);
  }
}
