import type { CallOptions } from '../answers.ts';
import type { RouteName } from '../routes.ts';
import { GatewayError, invalid } from '../transport/errors.ts';
import { isRefusal } from '../transport/refusal-body.ts';
import { checked, type Reply, type Requester, type RequestInput } from '../transport/request.ts';
import {
  type ImageRequest,
  imageBody,
  imageRequest,
  type VideoRequest,
  videoBody,
  videoRequest,
} from './requests.ts';
import {
  describesFailedTask,
  describesTask,
  type ImageResult,
  readImages,
  readVideoSubmission,
  readVideoTask,
  type VideoTask,
} from './responses.ts';

/**
 * Contract, "Media ({base_url}/...)". Every method throws GatewayError only. Remembers which path form of the video
 * routes works.
 */
export function createMediaCalls(requester: Requester) {
  const callWithFallback = createPathFallback(requester);
  return {
    async createImage(request: ImageRequest, { signal }: CallOptions = {}): Promise<ImageResult> {
      const body = imageBody(checked('media/image', imageRequest, request));
      return readImages(await requester.call('media/image', { body, signal }));
    },

    async createVideo(request: VideoRequest, { signal }: CallOptions = {}): Promise<{ taskId: string }> {
      const body = videoBody(checked('media/video', videoRequest, request));
      return callWithFallback('media/video', 'media/video-alternate', { body, signal }, readVideoSubmission);
    },

    async queryVideo(taskId: string, { signal }: CallOptions = {}): Promise<VideoTask> {
      if (taskId.includes('/')) throw invalid('media/task', 'a task ID cannot contain a slash');
      const input: RequestInput = {
        path: { taskId },
        signal,
        // The code says why the task failed. It does not mean that this request was refused.
        isRefusal: (value) => !describesTask(value) && isRefusal(value),
        isAnswer: describesFailedTask,
      };
      return callWithFallback('media/task', 'media/task-alternate', input, readVideoTask);
    },
  };
}

/**
 * Calls a route that has two path forms, starting with the form that worked before. Tries the other form after a 404, which
 * starts no work. Remembers successes only, because retired models and expired tasks cause a 404 too.
 */
function createPathFallback(requester: Requester) {
  let workingForm: 'first' | 'alternate' | undefined;
  return async <Result>(
    first: RouteName,
    alternate: RouteName,
    input: RequestInput,
    read: (reply: Reply) => Result,
  ): Promise<Result> => {
    if (requester.at(alternate) === undefined) return read(await requester.call(first, input));
    const routes = { first, alternate };
    const call = async (form: 'first' | 'alternate') => {
      const result = read(await requester.call(routes[form], input));
      workingForm = form;
      return result;
    };
    const [form, other] =
      workingForm === 'alternate' ? (['alternate', 'first'] as const) : (['first', 'alternate'] as const);
    const hasWorked = workingForm !== undefined;
    try {
      return await call(form);
    } catch (notFound) {
      if (!(notFound instanceof GatewayError) || notFound.status !== 404) throw notFound;
      try {
        return await call(other);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        // An existing route's 404 has an error code. The 404 of a missing path has none.
        const isExplained = hasWorked || notFound.gatewayCode !== undefined;
        const isUncertain = error.taken === 'unknown' && error.code !== 'no-api';
        throw isUncertain || (!isExplained && !isBare404(error)) ? error : notFound;
      }
    }
  };
}

function isBare404({ status, gatewayCode }: GatewayError): boolean {
  return status === 404 && gatewayCode === undefined;
}
