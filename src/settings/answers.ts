/** How questions are answered here, and how each plain value that moderators choose is changed. */
import type { AnswersInForce, Origin, Where } from '../core/moderation.ts';
import { present } from '../core/present.ts';
import type { Decisions, Edit } from './decisions.ts';

const DEFAULTS = { assistant: false, footer: true } as const;
const NAMES = {
  systemPrompt: 'system prompt',
  assistant: 'assistant',
  footer: 'footer',
  pages: 'pages of songs',
  talk: 'every message is a question',
} as const;

export function answersInForce({ channel, server }: Decisions): AnswersInForce {
  const flag = (name: keyof typeof DEFAULTS): { on: boolean; from: Origin } => {
    if (channel[name] !== undefined) return { on: channel[name], from: 'channel' };
    if (server[name] !== undefined) return { on: server[name], from: 'server' };
    return { on: DEFAULTS[name], from: 'deployment' };
  };
  const from: Where = channel.systemPrompt !== undefined ? 'channel' : 'server';
  const text = channel.systemPrompt ?? server.systemPrompt;
  return present({
    systemPrompt: text === undefined ? undefined : { text, from },
    assistant: flag('assistant'),
    footer: flag('footer'),
    talk: channel.talk ?? false,
  });
}

/** Without a value, the choice is taken back. */
export function setValue(name: keyof typeof NAMES, value: string | boolean | undefined): Edit {
  return (settings) => {
    const { [name]: before, ...rest } = settings;
    if (before === value) return undefined;
    return {
      settings: value === undefined ? rest : { ...rest, [name]: value },
      trace: { what: NAMES[name], from: inWords(before), to: inWords(value) },
    };
  };
}

function inWords(value: string | boolean | undefined): string {
  if (value === undefined) return 'not decided here';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return value;
}
