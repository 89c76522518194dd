import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import type { AnswerOffer, Log } from './command.ts';
import type { Config } from './config.ts';
import type { Emulator } from './emulator/server.ts';
import { createGateway, type Gateway } from './gateway/client.ts';
import type { ModelDefaults } from './settings/models.ts';

/** The client, over connections of its own. */
export function openGateway(
  account: { readonly baseUrl: string; readonly apiKey: string },
  { now, random, log }: { now: () => number; random: () => number; log: Log },
): Gateway & { close(): Promise<void> } {
  const dispatcher = new Agent({ connect: { timeout: 10_000 }, bodyTimeout: 0, headersTimeout: 0 });
  const gateway = createGateway({
    ...account,
    fetch: (url, init) => fetch(url, { ...init, dispatcher }),
    now,
    random,
    sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}),
    log,
  });
  return {
    ...gateway,
    async close() {
      await gateway.models.stop();
      await dispatcher.destroy();
    },
  };
}

/** The gateway on this machine, for whoever has set none. */
export async function openEmulator(speed: number | undefined): Promise<Emulator> {
  // Loaded only when it is needed: with a real gateway its synthesisers never enter memory.
  const { startEmulator } = await import('./emulator/server.ts');
  return startEmulator(speed === undefined ? {} : { speed });
}

/** What the operator decided, and the emulator's own special models where it is the gateway. */
export async function answerOffer({ answers }: Config, emulator: Emulator | undefined): Promise<AnswerOffer> {
  if (!emulator) return answers;
  const { specialModels } = await import('./emulator/models.ts');
  return {
    ...specialModels,
    ...answers,
    illustratingModels: [...specialModels.illustratingModels, ...answers.illustratingModels],
    thinkingModels: [...specialModels.thinkingModels, ...answers.thinkingModels],
  };
}

/** The deployment's models; the emulator's own where it is the gateway and the operator chose none. */
export async function defaultModels(
  { models }: Config,
  emulator: Emulator | undefined,
): Promise<ModelDefaults> {
  if (!emulator) return models;
  const { defaultModels: emulated } = await import('./emulator/models.ts');
  return { ...emulated, ...models };
}
