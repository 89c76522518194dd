/** The strict platforms of P7: people press there, and when each was acknowledged is known. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startDiscord } from '../servers/discord/index.ts';
import { freePort } from '../servers/free-port.ts';
import { startSlackServer } from '../servers/slack/server.ts';

export interface CommandsPlatform {
  /** For the whole bot. */
  readonly environment: Readonly<Record<string, string>>;
  /** For the bare library. */
  readonly bare: object;
  /** Resolves when the candidate takes commands. */
  ready(): Promise<unknown>;
  /** The person of this number sends a command. @returns what tells the milliseconds to the acknowledgement, once it came */
  command(name: 'song' | 'jobs', person: number): () => number | undefined;
  /** How many requests have come. */
  requests(): number;
}

/** What comes later is counted as late, and not refused: a busy machine delays both candidates. */
export const PATIENCE_MS = 60_000;

export async function commandsOnDiscord(): Promise<CommandsPlatform> {
  const discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  const people = new Map<number, ReturnType<typeof discord.world.addUser>>();
  const personOf = (number: number) => {
    const person = people.get(number) ?? discord.world.addUser(`person${number}`);
    people.set(number, person);
    return person;
  };
  return {
    environment: { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl },
    bare: { token: discord.token, apiUrl: discord.apiUrl },
    ready: () => discord.until(() => discord.commands.length > 0, 'registered commands'),
    command(name, person) {
      const options = name === 'song' ? { prompt: 'rain' } : {};
      const handle = discord.command({ name, options, user: personOf(person) });
      return () => handle.latencyMs ?? undefined;
    },
    requests: () => discord.requests.length,
  };
}

export async function commandsOnSlack(transport: 'socket' | 'http'): Promise<CommandsPlatform> {
  const slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS });
  const port = await freePort();
  const { botToken, appToken, apiUrl, signingSecret } = slack;
  if (transport === 'http') slack.deliverTo(`http://127.0.0.1:${port}/slack/events`);
  const way = transport === 'http' ? { signingSecret } : { appToken };
  return {
    environment: {
      PORT: String(port),
      SLACK_BOT_TOKEN: botToken,
      SLACK_API_URL: apiUrl,
      ...(transport === 'http' ? { SLACK_SIGNING_SECRET: signingSecret } : { SLACK_APP_TOKEN: appToken }),
    },
    bare: { port, token: botToken, apiUrl, way },
    async ready() {
      while (!(await slack.slash('/jobs')).acknowledged) await sleep(50);
    },
    command(name, person) {
      const user = `U0PERSON${person}`;
      if (!slack.workspace.users.has(user)) slack.workspace.addUser({ id: user, name: `person${person}` });
      const begun = performance.now();
      let latencyMs: number | undefined;
      void slack.slash(`/${name}`, name === 'song' ? 'rain' : '--all', { user }).then(({ acknowledged }) => {
        if (acknowledged) latencyMs = performance.now() - begun;
      });
      return () => latencyMs;
    },
    requests: () => slack.calls.length,
  };
}
