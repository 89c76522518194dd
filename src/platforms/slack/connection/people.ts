/** People's names and roles. */
import type { webApi } from '@slack/bolt';
import { z } from 'zod';
import type { Person } from '../../../core/invocation.ts';
import { slackErrorOf } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { call } from './client.ts';
import type { ConnectionOptions } from './options.ts';

const userSchema = z.object({
  team_id: z.string().optional(),
  /** Present in an organisation. */
  enterprise_user: z.object({ enterprise_id: z.string().optional() }).optional().catch(undefined),
  real_name: z.string().optional(),
  is_admin: z.boolean().optional(),
  is_owner: z.boolean().optional(),
  profile: z.object({ display_name: z.string().optional() }).optional(),
});

export type People = ReturnType<typeof createPeople>;

const CACHE_MS = 5 * 60_000;
const MAX_CACHED = 5000;

type PersonsOptions = Pick<ConnectionOptions, 'now' | 'sleep' | 'random' | 'log'>;

export function createPeople(
  web: webApi.WebClient,
  identity: { read(): Promise<{ readonly team: string; readonly organisation: string | undefined }> },
  options: PersonsOptions,
) {
  const { now, sleep, log } = options;
  const cache = new Map<string, { at: number; person: Person; team: string | undefined }>();
  /** Concurrent look-ups of one person share a request. */
  const pending = new Map<string, Promise<Person | undefined>>();

  async function load(id: string, nameInEvent: string): Promise<Person | undefined> {
    try {
      const [{ team, organisation }, answer] = await Promise.all([
        identity.read(),
        call(() => web.users.info({ user: id }), { repeatable: true }, options),
      ]);
      const user = userSchema.parse(answer.user);
      const displayName = user.profile?.display_name || user.real_name || nameInEvent;
      // On Slack Connect, an external person's flags are those in their home workspace.
      const isFromWorkspace = user.team_id === undefined || user.team_id === team;
      const moderator = isFromWorkspace && (user.is_admin === true || user.is_owner === true);
      const isColleague = organisation !== undefined && user.enterprise_user?.enterprise_id === organisation;
      const isVisitor = !isFromWorkspace && !isColleague;
      const person = { id, displayName, moderator, roles: [], ...(isVisitor && { visitor: true }) };
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(id, { at: now(), person, team: user.team_id });
      return person;
    } catch (error) {
      log.warn({ err: error, code: slackErrorOf(error) }, 'Could not load a Slack user');
      return undefined;
    }
  }

  function loadOnce(id: string, nameInEvent: string): Promise<Person | undefined> {
    const running = pending.get(id);
    if (running !== undefined) return running;
    const started = load(id, nameInEvent).finally(() => pending.delete(id));
    pending.set(id, started);
    return started;
  }

  return {
    /** The home workspace of a person, if it was read recently. */
    teamOf: (id: string): string | undefined => cache.get(id)?.team,

    /**
     * Never throws. Resolves within a second, even if Slack does not answer: then with the last known person, or the event's
     * name and unknown rights. `isFromWorkspace`: the event says that the person belongs to this workspace.
     */
    async find(id: string, nameInEvent = id, isFromWorkspace = false): Promise<Person> {
      const cached = cache.get(id);
      if (cached !== undefined && now() - cached.at < CACHE_MS) return cached.person;
      const loaded = await Promise.race([loadOnce(id, nameInEvent), sleep(LIMITS.lookUpWithinMs)]);
      const known = loaded ?? cached?.person;
      if (known !== undefined) return known;
      const person = { id, displayName: nameInEvent, moderator: false, rightsUnknown: true, roles: [] };
      return isFromWorkspace ? person : { ...person, visitor: 'unknown' };
    },
  };
}
