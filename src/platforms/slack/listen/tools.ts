/** What every listener works with. */
import type { Context } from '@slack/bolt';
import type { Invocation } from '../../../command.ts';
import type { AnsweringTools } from '../answering.ts';
import type { KnownPerson } from '../persons.ts';
import type { Workspace, Workspaces } from '../workspaces.ts';

export interface ListenerTools extends Omit<AnsweringTools, keyof Workspace> {
  readonly now: () => number;
  readonly workspaces: Workspaces;
  /** Threads that the bot takes part in go on without its name. */
  readonly threads: boolean;
  /** The app was taken away from a workspace at that time, in milliseconds. */
  readonly uninstalled: (team: string, at: number) => Promise<void>;
}

export type WorkspaceTools = ListenerTools & Workspace;

/** The tools for the workspace that Bolt acts in. Throws PlatformError when the app is not installed there any more. */
export async function toolsIn({ teamId }: Context, tools: ListenerTools): Promise<WorkspaceTools> {
  return { ...tools, ...(await tools.workspaces.of(teamId)) };
}

export function who({ person, locale }: KnownPerson): Pick<Invocation, 'person' | 'locale'> {
  return { person, ...(locale === undefined ? {} : { locale }) };
}
