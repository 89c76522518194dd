import { type Call, type Method, SlackRefusal } from '../call.ts';
import { type Fields, isFields } from '../json.ts';
import { viewProblems } from '../view-problems.ts';
import type { OpenView, Workspace } from '../workspace.ts';

/** Exchanges a trigger id for its person. Throws like Slack if it is expired, used or unknown. */
export type TakeTrigger = (triggerId: string) => string;

export function viewMethods(takeTrigger: TakeTrigger): Readonly<Record<string, Method>> {
  return {
    'views.open': (call) => {
      const view = readView(call, 'modal');
      const user = takeTrigger(call.need('trigger_id'));
      return { view: wireView(storeView(call.workspace, user, view, undefined)) };
    },
    'views.push': (call) => {
      const view = readView(call, 'modal');
      const user = takeTrigger(call.need('trigger_id'));
      const top = [...call.workspace.views.values()].findLast((item) => item.user === user && item.open);
      if (top === undefined) throw new SlackRefusal('not_found');
      return { view: wireView(storeView(call.workspace, user, view, top.id)) };
    },
    'views.update': (call) => {
      const view = readView(call, 'modal');
      const open = call.workspace.views.get(call.text('view_id') ?? '');
      if (open === undefined || !open.open) throw new SlackRefusal('not_found');
      const hash = call.text('hash');
      if (hash !== undefined && hash !== open.hash) throw new SlackRefusal('hash_conflict');
      open.view = view;
      open.hash = String(call.workspace.next());
      call.workspace.emit('changed');
      return { view: wireView(open) };
    },
    'views.publish': (call) => {
      const view = readView(call, 'home');
      const user = call.need('user_id');
      if (!call.workspace.users.has(user)) throw new SlackRefusal('user_not_found');
      const hash = call.text('hash');
      // A newer state may have been published, which an app cannot know.
      if (hash !== undefined && hash !== call.workspace.homes.get(user)?.hash)
        throw new SlackRefusal('hash_conflict', [], { counts: false });
      const home: OpenView = {
        id: call.workspace.homes.get(user)?.id ?? call.workspace.id('V'),
        user,
        view,
        hash: String(call.workspace.next()),
        previous: undefined,
        open: true,
      };
      call.workspace.homes.set(user, home);
      call.workspace.emit('changed');
      return { view: wireView(home) };
    },
  };
}

function readView(call: Call, type: 'modal' | 'home'): Fields {
  const view = call.json('view');
  if (!isFields(view) || view.type !== type)
    throw new SlackRefusal('invalid_arguments', [`[ERROR] not a ${type}`]);
  const problems = viewProblems(view);
  if (problems.length > 0)
    throw new SlackRefusal(
      'invalid_arguments',
      problems.map((problem) => `[ERROR] ${problem}`),
    );
  return view;
}

/** Stores an open modal. Missing block ids are generated, as on Slack. */
export function storeView(
  workspace: Workspace,
  user: string,
  view: Fields,
  previous: string | undefined,
): OpenView {
  const stored: OpenView = {
    id: workspace.id('V'),
    user,
    view: {
      ...view,
      blocks: (Array.isArray(view.blocks) ? view.blocks : []).map((block) =>
        isFields(block) ? { block_id: workspace.id('b'), ...block } : block,
      ),
    },
    hash: String(workspace.next()),
    previous,
    open: true,
  };
  workspace.views.set(stored.id, stored);
  workspace.emit('changed');
  return stored;
}

/** Returns a view as in the Web API and payloads. */
export function wireView(open: OpenView, organisation?: string): Fields {
  return {
    id: open.id,
    ...(organisation === undefined ? {} : { app_installed_team_id: organisation }),
    app_id: 'A0MINSTREL',
    hash: open.hash,
    private_metadata: '',
    ...open.view,
  };
}
