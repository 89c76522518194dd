import type { CallOptions } from './answers.ts';
import { GatewayError } from './errors.ts';
import { invalid } from './failures.ts';
import { type ImageResult, readImages } from './image-answers.ts';
import {
  type ImageRequest,
  imageBody,
  imageRequest,
  type VideoRequest,
  videoBody,
  videoRequest,
} from './media-requests.ts';
import { isRefusal } from './refusal.ts';
import { checked, type Reply, type Requester, type RequestInput } from './request.ts';
import type { RouteName } from './routes.ts';
import {
  holdsTask,
  readVideoSubmission,
  readVideoTask,
  type VideoSubmission,
  type VideoTask,
} from './video-answers.ts';

export * from './media-requests.ts';
export type { VideoTask } from './video-answers.ts';

/** Contract, "Media ({base_url}/...)". Every method throws GatewayError only. */
export interface MediaRoutes {
  createImage(request: ImageRequest, options?: CallOptions): Promise<ImageResult>;
  createVideo(request: VideoRequest, options?: CallOptions): Promise<VideoSubmission>;
  queryVideo(taskId: string, options?: CallOptions): Promise<VideoTask>;
}

/** The media routes over a requester; remembers which path form of the video routes answers. */
export function createMedia(requester: Requester): MediaRoutes {
  const twoForms = createTwoForms(requester);
  return {
    async createImage(request, { signal } = {}) {
      const body = imageBody(checked('media/image', imageRequest, request));
      return readImages(await requester.call('media/image', { body, signal }));
    },

    async createVideo(request, { signal } = {}) {
      const body = videoBody(checked('media/video', videoRequest, request));
      return readVideoSubmission(await twoForms('media/video', 'media/video-alternate', { body, signal }));
    },

    async queryVideo(taskId, { signal } = {}) {
      if (taskId.includes('/')) throw invalid('media/task', 'a task id has no slash');
      return readVideoTask(
        await twoForms('media/task', 'media/task-alternate', {
          path: { taskId },
          signal,
          // The code of a failed task is no refusal to tell of it.
          isRefusal: (value) => !holdsTask(value) && isRefusal(value),
        }),
      );
    },
  };
}

/**
 * Calls a route that has two path forms: the form that answered last, and on a 404 the other one, once. A 404 has not
 * taken any work, so this is safe for submissions too.
 */
function createTwoForms(requester: Requester) {
  let alternateAnswers = false;
  return async (first: RouteName, alternate: RouteName, input: RequestInput): Promise<Reply> => {
    const forms = [
      { route: first, isAlternate: false },
      { route: alternate, isAlternate: true },
    ];
    if (alternateAnswers) forms.reverse();
    let notFound: GatewayError | undefined;
    for (const { route, isAlternate } of forms) {
      try {
        const reply = await requester.call(route, input);
        alternateAnswers = isAlternate;
        return reply;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        if (error.status !== 404) {
          if (error.status !== undefined) alternateAnswers = isAlternate;
          throw error;
        }
        // The 404 of a route that exists names what is missing; that of a missing path does not.
        if (notFound?.gatewayCode === undefined) notFound = error;
      }
    }
    throw notFound ?? invalid(first, 'no path form');
  };
}
