/** People's names, and whether they moderate. */
import type { webApi } from '@slack/bolt';
import { z } from 'zod';
import type { Person } from '../../../core/invocation.ts';
import { slackErrorOf } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { call } from './client.ts';
import type { ConnectionOptions } from './options.ts';

const userSchema = z.object({
  team_id: z.string().optional(),
  /** In an organisation. */
  enterprise_user: z.object({ enterprise_id: z.string().optional() }).optional().catch(undefined),
  real_name: z.string().optional(),
  is_admin: z.boolean().optional(),
  is_owner: z.boolean().optional(),
  profile: z.object({ display_name: z.string().optional() }).optional(),
});

export type Persons = ReturnType<typeof createPersons>;

const REMEMBER_MS = 5 * 60_000;
const MOST = 5000;

type PersonsOptions = Pick<ConnectionOptions, 'now' | 'sleep' | 'random' | 'log'>;

export function createPersons(
  web: webApi.WebClient,
  identity: { read(): Promise<{ readonly team: string; readonly organisation: string | undefined }> },
  options: PersonsOptions,
) {
  const { now, sleep, log } = options;
  const remembered = new Map<string, { at: number; person: Person; team: string | undefined }>();
  /** Everybody who asks for the same person meanwhile gets the same answer. */
  const asking = new Map<string, Promise<Person | undefined>>();

  async function ask(id: string, nameInEvent: string): Promise<Person | undefined> {
    try {
      const [{ team, organisation }, answer] = await Promise.all([
        identity.read(),
        call(() => web.users.info({ user: id }), { repeatable: true }, options),
      ]);
      const user = userSchema.parse(answer.user);
      const displayName = user.profile?.display_name || user.real_name || nameInEvent;
      // On Slack Connect, the flags of a person from elsewhere are those of their own workspace.
      const isFromHere = user.team_id === undefined || user.team_id === team;
      const moderator = isFromHere && (user.is_admin === true || user.is_owner === true);
      const isColleague = organisation !== undefined && user.enterprise_user?.enterprise_id === organisation;
      const isVisitor = !isFromHere && !isColleague;
      const person = { id, displayName, moderator, roles: [], ...(isVisitor && { visitor: true }) };
      if (remembered.size >= MOST) remembered.clear();
      remembered.set(id, { at: now(), person, team: user.team_id });
      return person;
    } catch (error) {
      log.warn({ err: error, code: slackErrorOf(error) }, 'Could not load a Slack user');
      return undefined;
    }
  }

  function askOnce(id: string, nameInEvent: string): Promise<Person | undefined> {
    const known = asking.get(id);
    if (known !== undefined) return known;
    const started = ask(id, nameInEvent).finally(() => asking.delete(id));
    asking.set(id, started);
    return started;
  }

  return {
    /** The workspace that a person belongs to, where Slack has told it lately. */
    teamOf: (id: string): string | undefined => remembered.get(id)?.team,

    /**
     * Never throws, and answers within a second: when Slack does not, with what is remembered, or with the event's name
     * and without knowing whether the person moderates. `isFromHere`: the event says that the person is of this workspace.
     */
    async find(id: string, nameInEvent = id, isFromHere = false): Promise<Person> {
      const found = remembered.get(id);
      if (found !== undefined && now() - found.at < REMEMBER_MS) return found.person;
      const known = await Promise.race([askOnce(id, nameInEvent), sleep(LIMITS.lookUpWithinMs)]);
      const remains = known ?? found?.person;
      if (remains !== undefined) return remains;
      const person = { id, displayName: nameInEvent, moderator: false, rightsUnknown: true, roles: [] };
      return isFromHere ? person : { ...person, visitor: 'unknown' };
    },
  };
}
