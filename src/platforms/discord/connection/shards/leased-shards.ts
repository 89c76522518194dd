/** The shards of a bot, leased to its replicas: each holds its share, and they come and go. docs/decisions/0025-shards-are-leased.md */
import { z } from 'zod';
import { backoff } from '../../../../core/backoff.ts';
import type { PartLeases } from '../../../../core/replicas.ts';
import type { PlatformStatus } from '../../../platform.ts';
import { backgroundLoop, type DiscordConnection, tellTrouble } from '../connection.ts';
import { createGatewayConnection, type ShardOptions } from '../gateway.ts';
import type { DiscordRest } from '../rest/rest.ts';
import { createShardSession, type ShardSession } from './session.ts';

const TASK = 'discord shards';
/** Renewals in the time of a lease: others take what a replica gave up at their next one. */
const RENEWALS = 8;
/** After storage did not answer. */
const ASK_AGAIN_MS = 1_000;
/** After Discord did not answer. */
const RETRY = { firstMs: 1_000, longestMs: 5 * 60_000 } as const;
/** How long Discord's advice for connecting is kept. */
const ADVICE_MS = 60_000;

const adviceSchema = z.looseObject({ shards: z.number() });

interface HeldShard {
  /** Of how many. */
  readonly total: number;
  readonly connection: DiscordConnection;
  readonly session: ShardSession;
  /** As of the last renewal but one: what was being handled when a replica died is sent to the next holder again. */
  noted: string | undefined;
}

interface LeasedShardsOptions extends Omit<ShardOptions, 'shards' | 'session' | 'replicas'> {
  readonly replicas: NonNullable<ShardOptions['replicas']>;
  readonly rest: Pick<DiscordRest, 'gatewayAdvice'>;
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number;
}

/** One client for each shard, so that a shard comes and goes with all that is known of its guilds. */
export function createLeasedShards(options: LeasedShardsOptions): DiscordConnection {
  const { replicas, elapsed, random, sleep, log } = options;
  const shards = new Map<number, HeldShard>();
  /** Closed shards that storage is still to hear of, with the note for their next holder. */
  const givenUp = new Map<number, string | undefined>();
  /** Shards that are being closed. */
  const leaving = new Set<number>();
  const advice = createAdvice(options);
  /** Until then surely no other replica holds what this one does. */
  let sureUntil = Number.NEGATIVE_INFINITY;
  let renewing: Promise<boolean> | undefined;
  let reason = 'not started';
  let hasShare = false;
  /** As the last renewal told. */
  let livingReplicas = 1;
  let isAway = false;
  let isOutgrown = false;

  /** False when storage does not answer. */
  function renew(isLeaving = false): Promise<boolean> {
    renewing ??= renewOnce(isLeaving).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  async function renewOnce(isLeaving: boolean): Promise<boolean> {
    const released = [...givenUp.keys()];
    const notes = new Map(
      [...givenUp].flatMap(([shard, note]) => (note === undefined ? [] : [[shard, note] as const])),
    );
    for (const [shard, held] of shards) {
      if (leaving.has(shard)) continue;
      if (held.noted !== undefined) notes.set(shard, held.noted);
      held.noted = held.session.note();
    }
    // Read before the request: the process may be suspended while it waits for the answer.
    const askedAt = elapsed();
    try {
      const { parts } = await advice.read();
      const answer = await replicas.renew(TASK, {
        replica: replicas.name,
        parts,
        leaving: isLeaving,
        released,
        notes,
      });
      for (const shard of released) givenUp.delete(shard);
      if (parts > answer.parts && !isOutgrown)
        log.warn(
          { shards: answer.parts, advised: parts },
          'Discord advises more shards: stop all replicas and then start them, when it suits you',
        );
      isOutgrown = parts > answer.parts;
      sureUntil = askedAt + replicas.leaseMs;
      isAway = false;
      if (!isLeaving) follow(answer);
      return true;
    } catch (error) {
      if (!isAway) log.warn({ err: error }, 'The leases of shards could not be renewed');
      isAway = true;
      reason = 'the leases of shards cannot be renewed';
      return false;
    }
  }

  /** Makes what is open equal to what is held. */
  function follow({ held, excess, parts, replicas: living }: PartLeases): void {
    hasShare = true;
    livingReplicas = living;
    for (const [shard, { total }] of shards) {
      if (leaving.has(shard) || (held.has(shard) && total === parts)) continue;
      log.warn({ shard }, 'Another replica has taken a shard over');
      void giveUp(shard, { isLost: true });
    }
    for (const [shard, note] of held) if (!shards.has(shard) && !givenUp.has(shard)) take(shard, parts, note);
    for (const shard of excess) if (!leaving.has(shard)) void giveUp(shard, { isLost: false });
  }

  function take(shard: number, total: number, note: string | undefined): void {
    const session = createShardSession({ note, held: () => isHeld(shard) });
    const connection = createGatewayConnection({
      ...options,
      makeRequest: advice.answering(options.makeRequest),
      shards: { ids: [shard], total },
      session,
    });
    shards.set(shard, { total, connection, session, noted: note });
    log.info({ shard, of: total, resumes: note !== undefined }, 'A shard is taken');
    void connection.open();
  }

  /** Closes first: no two replicas are connected to a shard. */
  async function giveUp(shard: number, { isLost }: { isLost: boolean }): Promise<void> {
    const held = shards.get(shard);
    if (!held) return;
    leaving.add(shard);
    await held.connection.close();
    shards.delete(shard);
    leaving.delete(shard);
    if (isLost || loop.signal.aborted) {
      if (!isLost) givenUp.set(shard, held.session.note());
      return;
    }
    givenUp.set(shard, held.session.note());
    await renewing;
    await renew();
  }

  /**
   * Resolves when the shard surely is this replica's; while storage is away also for a shard that is connected, which no other
   * replica can take then either. Never resolves for a shard that another one took.
   */
  async function isHeld(shard: number): Promise<void> {
    while (elapsed() >= sureUntil && !loop.signal.aborted) {
      if (await renew()) continue;
      if (shards.get(shard)?.connection.status().ready) return;
      await sleep(ASK_AGAIN_MS, loop.signal);
    }
    if (leaving.has(shard) || !shards.has(shard)) await new Promise<never>(() => {});
  }

  /** Discord says how many shards there are to share. */
  async function askDiscord(attempted: () => void): Promise<void> {
    for (let attempt = 1; !loop.signal.aborted; attempt += 1) {
      try {
        await advice.read();
        return;
      } catch (error) {
        reason = tellTrouble(error, 'it does not answer', log);
      }
      attempted();
      await sleep(backoff({ ...RETRY, attempt, random }), loop.signal);
    }
  }

  async function run(attempted: () => void): Promise<void> {
    await askDiscord(attempted);
    while (!loop.signal.aborted) {
      const isRenewed = await renew();
      attempted();
      await sleep(isRenewed ? replicas.leaseMs / RENEWALS : ASK_AGAIN_MS, loop.signal);
    }
  }

  const isReady = ({ connection }: HeldShard) => connection.status().ready;

  const loop = backgroundLoop(run);

  return {
    open: loop.open,

    async close() {
      await loop.close();
      await renewing;
      await Promise.all([...shards.keys()].map((shard) => giveUp(shard, { isLost: false })));
      if (hasShare) await renew(true);
      reason = 'stopped';
      hasShare = false;
    },

    replicas: () => livingReplicas,

    connections: () =>
      [...shards.values()].reduce((sum, { connection }) => sum + connection.connections(), 0),

    status(): PlatformStatus {
      if (!hasShare) return { ready: false, reason };
      const waiting = [...shards.values()].filter((shard) => !isReady(shard));
      if (waiting.length === 0) return { ready: true };
      const why = waiting.map(({ connection }) => connection.status()).find(({ ready }) => !ready);
      const because = why?.ready === false ? `: ${why.reason}` : '';
      return {
        ready: false,
        reason: `${waiting.length} of ${shards.size} shards are not connected${because}`,
      };
    },
  };
}

/** Discord's advice for connecting, asked for once for all clients of this process: the route allows few requests. */
function createAdvice({ rest, elapsed }: Pick<LeasedShardsOptions, 'rest' | 'elapsed'>) {
  let known: { readonly advice: unknown; readonly until: number } | undefined;

  async function fresh(): Promise<unknown> {
    if (!known || elapsed() >= known.until)
      known = { advice: await rest.gatewayAdvice(), until: elapsed() + ADVICE_MS };
    return known.advice;
  }

  return {
    async read(): Promise<{ parts: number }> {
      // What a running bot knows is good enough.
      return { parts: adviceSchema.parse(known?.advice ?? (await fresh())).shards };
    },
    answering:
      (request: LeasedShardsOptions['makeRequest']): LeasedShardsOptions['makeRequest'] =>
      async (url, init) =>
        new URL(url).pathname.endsWith('/gateway/bot')
          ? (Response.json(await fresh()) as unknown as Awaited<ReturnType<typeof request>>)
          : await request(url, init),
  };
}
