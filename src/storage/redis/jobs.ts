/** Records of jobs. */
import { z } from 'zod';
import { serverOf } from '../../core/invocation.ts';
import { isOpen, type Job } from '../../core/job.ts';
import { jobFacts, parseJob, parseJobs, similarWorkKey } from '../job-record.ts';
import type { Accepted, JobStore, JobText, OpenCount } from '../storage.ts';
import type { RedisTools } from './connection.ts';
import { ERASE, INSERT, OPEN_FACTS, PAIRS, REPLACE } from './job-scripts.ts';
import type { RedisKeys } from './keys.ts';

/** Ids of open jobs per page. */
const PAGE = 500;
/** Records per page. */
const PAGE_OF_RECORDS = 50;
const insertReply = z.union([
  z.object({ type: z.literal('accepted') }),
  z.object({ type: z.literal('known'), job: z.string() }),
  z.object({ type: z.literal('refused'), ceiling: z.number(), freesAt: z.number().exactOptional() }),
]);
const openFactsReply = z.array(z.tuple([z.string(), z.string(), z.number(), z.coerce.number()]));
const pairsReply = z.array(z.tuple([z.string(), z.string()]));

export interface RedisJobs extends JobStore {
  /** Reserves the usage, if given, and stores the job: both or neither. */
  insert(job: Job, ...reservation: [] | [string]): Promise<Accepted>;
}

export function redisJobs({ connection, keys, log, newId }: RedisTools): RedisJobs {
  async function insert(job: Job, ...reservation: [] | [string]): Promise<Accepted> {
    const values = [...jobArguments(job, newId()), ...reservation];
    const reply = await connection.evaluate(INSERT, [keys.usage, ...jobKeys(job, keys)], values);
    return insertReply.parse(JSON.parse(z.string().parse(reply)));
  }

  async function pairs(index: string, command: 'ZRANGE' | 'ZREVRANGE', last: number, field: string) {
    const values = [command, 0, last, keys.job(''), field];
    return pairsReply.parse(await connection.evaluate(PAIRS, [index], values));
  }

  async function jobs(index: string, command: 'ZRANGE' | 'ZREVRANGE', last: number): Promise<Job[]> {
    const found = await pairs(index, command, last, 'record');
    const records = found.map(([id, record]) => ({ id, record }));
    return parseJobs(records, log);
  }

  async function newest(index: string, limit: number): Promise<Job[]> {
    // A last index of -1 would mean all.
    return limit > 0 ? jobs(index, 'ZREVRANGE', limit - 1) : [];
  }

  async function read(id: string): Promise<Job | undefined> {
    const record = await connection.run((redis) => redis.hGet(keys.job(id), 'record'));
    return record === null ? undefined : parseJob(id, record);
  }

  async function* records(): AsyncGenerator<JobText> {
    const start = keys.job('');
    const read = async (key: string) => ({
      id: key.slice(start.length),
      record: await connection.run((redis) => redis.hGet(key, 'record')),
    });
    const page: string[] = [];
    const readPage = async () => {
      const found = await Promise.all(page.splice(0).map(read));
      return found.flatMap(({ id, record }) => (record === null ? [] : [{ id, record }]));
    };
    for await (const key of connection.keys(start)) {
      page.push(key);
      if (page.length === PAGE_OF_RECORDS) yield* await readPage();
    }
    yield* await readPage();
  }

  /** Yields matching jobs. Tests the text first, which is far faster than parsing the record. */
  async function* parsed(
    matches: (job: Job) => boolean,
    mayMatch: (record: string) => boolean,
  ): AsyncGenerator<Job> {
    for await (const text of records()) {
      if (mayMatch(text.record)) yield* parseJobs([text], log).filter(matches);
    }
  }

  /** Yields pages of the ids of open jobs. */
  async function* openPages(): AsyncGenerator<string[]> {
    let last = '-';
    for (;;) {
      const page = await connection.run((redis) =>
        redis.zRangeByLex(keys.open, last, '+', { LIMIT: { offset: 0, count: PAGE } }),
      );
      yield page;
      const end = page.at(-1);
      if (end === undefined || page.length < PAGE) return;
      last = `(${end}`;
    }
  }

  return {
    insert,
    create: async (job) => (await insert(job)).type === 'accepted',
    read,
    async ofInvocation(invocation) {
      const id = await connection.run((redis) => redis.get(keys.invocation(invocation)));
      return id === null ? undefined : await read(id);
    },
    async replace(job) {
      const written: Job = { ...job, version: job.version + 1 };
      const values = jobArguments(written, newId());
      return (await connection.evaluate(REPLACE, jobKeys(written, keys), values)) === 1 ? written : undefined;
    },
    async running({ platform, channel }, person) {
      const found = await jobs(keys.running(platform, person), 'ZRANGE', -1);
      return found.filter(({ address }) => channel === undefined || address.channel === channel);
    },
    recentSongs: (where, limit) => newest(keys.songs(where), limit),
    recentServerSongs: (where, limit) => newest(keys.serverSongs(where), limit),
    undelivered: (platform, person, limit) => newest(keys.undelivered(platform, person), limit),
    async *open() {
      for await (const page of openPages()) yield* page;
    },
    async openCounts() {
      const counts = new Map<string, OpenCount>();
      for await (const page of openPages()) {
        const facts = await connection.evaluate(OPEN_FACTS, [keys.open], [keys.job(''), ...page]);
        for (const [route, state, queued, oldestAt] of openFactsReply.parse(facts)) {
          const key = `${route} ${state}`;
          const before = counts.get(key) ?? { route, state, count: 0, queued: 0, oldestAt };
          counts.set(key, {
            ...before,
            count: before.count + 1,
            queued: before.queued + queued,
            oldestAt: Math.min(before.oldestAt, oldestAt),
          });
        }
      }
      return [...counts.values()];
    },
    all: () =>
      parsed(
        () => true,
        () => true,
      ),
    ofPerson: (platform, person) =>
      parsed(
        (job) => job.address.platform === platform && job.person.id === person,
        (record) => record.includes(JSON.stringify(person)),
      ),
    endedBefore: (at) =>
      parsed(
        (job) => !isOpen(job) && (job.finishedAt ?? job.createdAt) < at,
        (record) => Number(/"finishedAt":([\d.]+)/.exec(record)?.[1] ?? 0) < at,
      ),
    records,
    async erase(id, version) {
      const job = await read(id);
      if (!job) return version === undefined;
      return (await connection.evaluate(ERASE, jobKeys(job, keys), [id, version ?? ''])) === 1;
    },
    async recentDurations(alike, limit) {
      if (limit <= 0) return [];
      const found = await pairs(keys.delivered(alike), 'ZREVRANGE', limit - 1, 'duration');
      return found.map(([, duration]) => Number(duration));
    },
  };
}

/** The KEYS of {@link WRITE_JOB}, then the key of the invocation. */
function jobKeys({ id, address, person, work, invocation }: Job, keys: RedisKeys): string[] {
  return [
    keys.job(id),
    keys.open,
    keys.running(address.platform, person.id),
    keys.songs(address),
    keys.serverSongs({ platform: address.platform, guild: serverOf(address) ?? '' }),
    keys.delivered(similarWorkKey(work)),
    keys.undelivered(address.platform, person.id),
    keys.inbox(id),
    keys.inboxDigests(id),
    keys.invocation(invocation),
  ];
}

/** The arguments of {@link WRITE_JOB} as JSON, and the record. */
function jobArguments(job: Job, token: string): [string, string] {
  const { id, version, createdAt, finishedAt = 0, address } = job;
  const facts = jobFacts(job);
  const hasServerSongs = facts.hasSongs && serverOf(address) !== undefined;
  return [
    JSON.stringify({ token, id, version, createdAt, finishedAt, ...facts, hasServerSongs }),
    JSON.stringify(job),
  ];
}
