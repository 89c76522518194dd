/** How questions are answered here: the system prompt, the assistant, the footer. */
import type { AnswerSettings } from '../command.ts';
import type { AnswersInForce, Origin } from '../moderation.ts';
import type { Decisions } from './decisions.ts';

const DEFAULTS = { assistant: false, footer: true } as const;

export function answersInForce({ channel, server }: Decisions): AnswersInForce {
  const flag = (name: 'assistant' | 'footer'): { on: boolean; from: Origin } => {
    if (channel[name] !== undefined) return { on: channel[name], from: 'channel' };
    if (server[name] !== undefined) return { on: server[name], from: 'server' };
    return { on: DEFAULTS[name], from: 'deployment' };
  };
  const from = channel.systemPrompt !== undefined ? 'channel' : 'server';
  const text = channel.systemPrompt ?? server.systemPrompt;
  return {
    ...(text === undefined ? {} : { systemPrompt: { text, from } }),
    assistant: flag('assistant'),
    footer: flag('footer'),
  };
}

export function answerSettings(decisions: Decisions): AnswerSettings {
  const { systemPrompt, assistant, footer } = answersInForce(decisions);
  return {
    ...(systemPrompt ? { systemPrompt: systemPrompt.text } : {}),
    assistant: assistant.on,
    footer: footer.on,
  };
}
