/** Asks for the default models. */
import * as prompts from '@clack/prompts';
import type { Variable } from '../../app/config/schema.ts';
import type { ModelUse } from '../../gateway/models/hints.ts';
import type { Model } from '../../gateway/models/listing.ts';
import { answerTo, askSetting, type SetupSession, streamsOf } from './session.ts';

const QUESTIONS = [
  { variable: 'ASK_MODEL', use: 'answers', message: 'Model for answers' },
  { variable: 'IMAGE_MODEL', use: 'pictures', message: 'Model for images' },
  { variable: 'VIDEO_MODEL', use: 'videos', message: 'Model for videos' },
] as const satisfies readonly { variable: Variable; use: ModelUse; message: string }[];

/** Asks for the default model of each use. */
export async function askModels(
  session: SetupSession,
  models: readonly Model[],
  uses: Readonly<Record<ModelUse, boolean>>,
): Promise<void> {
  for (const question of QUESTIONS) if (uses[question.use]) await askModel(session, models, question);
}

const MODELS_SHOWN = 10;

/** Offers the listed models that can do this. Without a list, the model can be typed. */
async function askModel(
  session: SetupSession,
  models: readonly Model[],
  question: { readonly variable: Variable; readonly use: ModelUse; readonly message: string },
): Promise<void> {
  const { variable, use, message } = question;
  const suitable = models.filter(({ uses }) => uses === undefined || uses.includes(use));
  if (suitable.length === 0)
    return await askSetting(session, variable, `${message} (leave empty to let moderators choose)`, {
      isOptional: true,
    });
  const present = session.current[variable] ?? '';
  const options = suitable.map(({ id, displayName, uses }) => ({
    // The route of a model that also writes has to be named.
    value: use === 'pictures' && uses?.includes('answers') ? `gen:${id}` : id,
    label: id,
    ...(displayName !== undefined && { hint: displayName }),
  }));
  const choice = await answerTo(
    prompts.autocomplete({
      message: `${message} (type to search)`,
      options: [
        ...(present === '' ? [] : [{ value: present, label: present, hint: 'the current one' }]),
        { value: '', label: 'Let moderators choose', hint: 'with /models' },
        ...options.filter(({ value }) => value !== present),
      ],
      maxItems: MODELS_SHOWN,
      ...streamsOf(session),
    }),
  );
  session.changes.set(variable, choice);
}
