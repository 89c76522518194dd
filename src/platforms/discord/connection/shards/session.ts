/** The session of one shard, which one replica begins and another may go on with. */
import {
  type ClientOptions,
  CloseCodes,
  GatewayDispatchEvents,
  type IShardingStrategy,
  type SessionInfo,
  SimpleShardingStrategy,
} from 'discord.js';

import { z } from 'zod';

const identified = z.looseObject({ id: z.string() });
/** It is stored: names and meanings must stay. */
const noteSchema = z.object({
  session: z.object({
    sessionId: z.string(),
    sequence: z.number(),
    shardId: z.number(),
    shardCount: z.number(),
    resumeURL: z.string(),
  }),
  /** From the READY event that began the session: a replica that resumes the session gets no second one. */
  ready: z.object({ user: identified, application: identified }),
});
const readySchema = z.object({ data: noteSchema.shape.ready });
const resumedSchema = z.object({ shardId: z.number() });
type SessionNote = z.infer<typeof noteSchema>;

/** Of @discordjs/ws; discord.js has a class of the same name. */
export type ShardManager = Parameters<NonNullable<NonNullable<ClientOptions['ws']>['buildStrategy']>>[0];

export interface ShardSession {
  /** Resolves when the shard surely is this replica's, and never once it is another's. */
  readonly held: () => Promise<void>;
  readonly buildStrategy: (manager: ShardManager) => IShardingStrategy;
  /** What the next holder is to know; undefined where no session can be resumed. */
  note(): string | undefined;
}

interface SessionOptions {
  /** Of the last holder. */
  readonly note: string | undefined;
  readonly held: ShardSession['held'];
}

/** Resumes the session of the last holder, and leaves its own behind for the next one. */
export function createShardSession({ note, held }: SessionOptions): ShardSession {
  const left = readNote(note);
  let session: SessionInfo | undefined = left?.session;
  let ready = left?.ready;

  function buildStrategy(manager: ShardManager): IShardingStrategy {
    const { options } = manager;
    const retrieve = options.retrieveSessionInfo.bind(options);
    const update = options.updateSessionInfo.bind(options);
    const adopted = session;
    let isAdopted = adopted === undefined;
    let isReady = false;
    let isClosing = false;

    // It is asked for before each connection, each heartbeat and each event that is passed on.
    options.retrieveSessionInfo = async (shard) => {
      await held();
      if (adopted && !isAdopted) await update(shard, adopted);
      isAdopted = true;
      return await retrieve(shard);
    };
    options.updateSessionInfo = async (shard, info) => {
      // A client that is closed forgets its session; the next holder resumes it.
      if (isClosing) return;
      session = info ?? undefined;
      await update(shard, info);
    };
    const events = eventsOf(manager);
    events.on('ready', (told) => {
      isReady = true;
      ready = readySchema.safeParse(told).data?.data;
    });
    events.on('resumed', (told) => {
      const shard = resumedSchema.safeParse(told).data;
      if (isReady || !ready || !session || !shard) return;
      // discord.js knows itself from READY alone, and calls a client ready after it. Guilds are asked for when they are needed.
      const data = { v: 10, ...ready, guilds: [], session_id: session.sessionId };
      events.emit('ready', { data, ...shard });
      events.emit('dispatch', { data: { op: 0, t: GatewayDispatchEvents.Ready, s: 1, d: data }, ...shard });
    });
    const strategy = new SimpleShardingStrategy(manager);
    const [spawn, destroy] = [strategy.spawn.bind(strategy), strategy.destroy.bind(strategy)];
    strategy.spawn = (shards) => {
      // Before its first shards, the manager destroys those of before.
      isClosing = false;
      return spawn(shards);
    };
    // Any other code than this and 1000 or 1001 keeps the session: https://docs.discord.com/developers/events/gateway#disconnecting
    strategy.destroy = (how) => {
      isClosing = true;
      return destroy({ ...how, code: CloseCodes.Resuming });
    };
    return strategy;
  }

  return {
    held,
    buildStrategy,
    note: () => (session && ready ? JSON.stringify({ session, ready } satisfies SessionNote) : undefined),
  };
}

function readNote(note: string | undefined): SessionNote | undefined {
  if (note === undefined) return undefined;
  try {
    return noteSchema.safeParse(JSON.parse(note)).data;
  } catch {
    return undefined;
  }
}

interface ManagerEvents {
  on(event: 'ready' | 'resumed', listener: (told: unknown) => void): unknown;
  emit(event: 'ready' | 'dispatch', told: object): unknown;
}

/** Sound: these are the values of WebSocketShardEvents of @discordjs/ws, which discord.js hides behind an enum of its own. */
const eventsOf = (manager: ShardManager) => manager as unknown as ManagerEvents;
