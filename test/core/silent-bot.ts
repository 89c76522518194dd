import type { Bot } from '../../src/core/bot/create-bot.ts';

/** A bot without commands. */
export const SILENT_BOT: Bot = {
  commands: [],
  run: async () => ({ type: 'message', visibility: 'person', message: { text: 'There is nothing here.' } }),
  suggest: async () => [],
  refusal: async () => undefined,
  home: async () => [],
  prompts: async () => [],
  answersEveryMessage: async () => false,
  cancelRunning: async () => {},
  withdraw: async () => {},
};
