import { TooManyRequestsError, UnprocessableError } from '../../../lib/errors.ts';
import type { Platform } from '../../../platform.ts';
import type { Principal } from '../../../requests/principal.ts';
import { MediaError, type OpenMedia, openMedia } from '../fetching/fetch-media.ts';
import { getAiTask } from '../service.ts';

/** Each needs a connection to its source, and one to its reader. */
const MOST_OF_ACCOUNT = 4;
const RETRY_SECONDS = 10;
const RANGE = /^bytes=(\d+-\d*|-\d+)$/;

/**
 * Opens the file of a task at its source. Lists of parts, and units other than bytes, are ignored, so that the whole file
 * comes.
 * @throws NotFoundError, TooManyRequestsError; UnprocessableError, as its bytes do too, with why the file can't be had
 */
export async function openAiTaskMedia(
  on: Platform,
  principal: Principal,
  { taskId, range = '', gone }: { taskId: string; range?: string | undefined; gone: AbortSignal },
): Promise<Omit<OpenMedia, 'bytes'> & { bytes: AsyncGenerator<Uint8Array> }> {
  const { task_data: data } = await getAiTask(on, principal, taskId);
  enter(on.mediaReads, principal, gone);
  try {
    const { bytes, ...head } = await openMedia(data.url, {
      ...on.media,
      signal: gone,
      range: RANGE.test(range) ? range : undefined,
    });
    return { ...head, bytes: explained(bytes) };
  } catch (error) {
    throw explanationOf(error);
  }
}

/** Counts a reader until it has gone. @throws TooManyRequestsError */
function enter(reads: Map<number, number>, { clientId }: Principal, gone: AbortSignal): void {
  const own = reads.get(clientId) ?? 0;
  if (own >= MOST_OF_ACCOUNT) {
    throw new TooManyRequestsError(
      `Your account reads ${MOST_OF_ACCOUNT} media files already, which is the most at a time; end one of them, or try again`,
      RETRY_SECONDS,
    );
  }
  const leave = () => {
    const left = (reads.get(clientId) ?? 1) - 1;
    if (left === 0) reads.delete(clientId);
    else reads.set(clientId, left);
  };
  reads.set(clientId, own + 1);
  gone.addEventListener('abort', leave);
  if (gone.aborted) leave();
}

async function* explained(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw explanationOf(error);
  }
}

/** The source is at fault, and not this service: it must look like no outage. */
const explanationOf = (error: unknown) => (error instanceof MediaError ? new UnprocessableError(error.message) : error);
