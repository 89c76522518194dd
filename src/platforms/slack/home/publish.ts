/** Puts the Home tab in front of a person, as it is now. */
import type { Address } from '../../../command.ts';
import type { Message } from '../../../message.ts';
import { call } from '../client.ts';
import { PLATFORM_NAME } from '../invocations.ts';
import type { WorkspaceTools } from '../listen/tools.ts';
import { homeView, type Shown } from './view.ts';

/** What was asked for in the Home tab may take this long to show, such as work that ends. */
const SETTLES_WITHIN_MS = 1500;

export interface HomePlace {
  readonly user: string;
  readonly team: string;
  readonly shown: Shown;
}

/** Where something stands that was asked for in the Home tab. */
export function homeAddress({ user, team, shown: { direct, channel = direct } }: HomePlace): Address {
  return { platform: PLATFORM_NAME, guild: team, channel, person: user };
}

/** Never throws: a Home tab that is not up to date harms nobody, and the next opening brings it. */
export async function publishHome(
  place: HomePlace,
  notice: Message | undefined,
  tools: WorkspaceTools,
): Promise<void> {
  const { user, shown } = place;
  try {
    const { person } = await tools.persons.find(user);
    const sections = await tools.bot.home?.({ address: homeAddress(place), person });
    if (sections === undefined) return;
    const view = homeView({ sections, shown, notice, person: user });
    await call(() => tools.web.views.publish({ user_id: user, view }), { repeatable: true }, tools);
  } catch (error) {
    tools.log.warn({ err: error }, 'The Home tab could not be shown');
  }
}

/** Shows what came of a button or a form at once, and how things stand a moment later. */
export async function changeHome(
  place: HomePlace,
  notice: Message | undefined,
  tools: WorkspaceTools,
): Promise<void> {
  await publishHome(place, notice, tools);
  await tools.sleep(SETTLES_WITHIN_MS);
  await publishHome(place, notice, tools);
}
