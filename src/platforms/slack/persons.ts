/** Who people are: their names, and whether they moderate. */
import type { webApi } from '@slack/bolt';
import { z } from 'zod';
import type { Log, Person } from '../../command.ts';

const userSchema = z.object({
  real_name: z.string().optional(),
  is_admin: z.boolean().optional(),
  is_owner: z.boolean().optional(),
  locale: z.string().optional(),
  profile: z.object({ display_name: z.string().optional() }).optional(),
});

export interface KnownPerson {
  readonly person: Person;
  readonly locale: string | undefined;
}

export interface PersonsOptions {
  readonly web: webApi.WebClient;
  readonly now: () => number;
  readonly log: Log;
}

export interface Persons {
  /** Never throws: of somebody who cannot be looked up, only what the event said is known, and that they do not moderate. */
  find(id: string, nameInEvent?: string): Promise<KnownPerson>;
}

const REMEMBER_MS = 5 * 60_000;
const MOST = 5000;

export function createPersons({ web, now, log }: PersonsOptions): Persons {
  const remembered = new Map<string, { at: number; known: KnownPerson }>();

  async function ask(id: string, nameInEvent: string): Promise<KnownPerson> {
    const user = userSchema.parse((await web.users.info({ user: id, include_locale: true })).user);
    const displayName = user.profile?.display_name || user.real_name || nameInEvent;
    const moderator = user.is_admin === true || user.is_owner === true;
    return { person: { id, displayName, moderator, roles: [] }, locale: user.locale };
  }

  return {
    async find(id, nameInEvent = id) {
      const found = remembered.get(id);
      if (found !== undefined && now() - found.at < REMEMBER_MS) return found.known;
      try {
        const known = await ask(id, nameInEvent);
        if (remembered.size >= MOST) remembered.clear();
        remembered.set(id, { at: now(), known });
        return known;
      } catch (error) {
        log.warn({ err: error }, 'A person could not be looked up');
        return (
          found?.known ?? {
            person: { id, displayName: nameInEvent, moderator: false, roles: [] },
            locale: undefined,
          }
        );
      }
    },
  };
}
