/** Settings with plain values: how questions are answered, and whether songs have pages. */
import type { Address } from '../core/invocation.ts';
import type { AnswersInForce, Origin, PagesInForce, Where } from '../core/moderation.ts';
import { present } from '../core/util/present.ts';
import type { Decisions, Edit } from './decisions.ts';

const NAMES = {
  systemPrompt: 'system prompt',
  assistant: 'answers use commands',
  footer: 'model and tokens shown',
  pages: 'song pages',
  talk: 'answer every message',
} as const;

export function answersInForce(decisions: Decisions): AnswersInForce {
  const { channel, server } = decisions;
  const from: Where = channel.systemPrompt !== undefined ? 'channel' : 'server';
  const text = channel.systemPrompt ?? server.systemPrompt;
  return present({
    systemPrompt: text === undefined ? undefined : { text, from },
    assistant: switchInForce('assistant', decisions, false),
    footer: switchInForce('footer', decisions, true),
    talk: channel.talk ?? false,
  });
}

/** Whether songs made at an address have pages. By default, only songs of public channels have them. */
export const pagesInForce = (decisions: Decisions, address: Pick<Address, 'public'>): PagesInForce =>
  switchInForce('pages', decisions, address.public === true);

function switchInForce(
  name: 'assistant' | 'footer' | 'pages',
  { channel, server }: Decisions,
  standard: boolean,
): { on: boolean; from: Origin } {
  if (channel[name] !== undefined) return { on: channel[name], from: 'channel' };
  if (server[name] !== undefined) return { on: server[name], from: 'server' };
  return { on: standard, from: 'deployment' };
}

/** Sets a value; undefined resets it. */
export function setValue(name: keyof typeof NAMES, value: string | boolean | undefined): Edit {
  return (settings) => {
    const { [name]: before, ...rest } = settings;
    if (before === value) return undefined;
    return {
      settings: value === undefined ? rest : { ...rest, [name]: value },
      trace: { what: NAMES[name], from: valueText(before), to: valueText(value) },
    };
  };
}

function valueText(value: string | boolean | undefined): string {
  if (value === undefined) return 'not set';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return value;
}
