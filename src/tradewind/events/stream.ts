import { accepts } from '../../lib/accepts.ts';
import { asLines, asServerSent, type Told } from './presenter.ts';

const STREAMS = {
  'text/event-stream': asServerSent,
  'application/x-ndjson': asLines,
};
type MediaType = keyof typeof STREAMS;

/** Returns the kind of stream that a header asks for, if it does. */
export function streamOf(accept: string | undefined): MediaType | undefined {
  return (Object.keys(STREAMS) as MediaType[]).find((type) => accepts(accept, type));
}

/** Returns what is told in the form of that media type. */
export async function* textsOf(type: MediaType, following: AsyncGenerator<Told>): AsyncGenerator<string> {
  for await (const told of following) yield STREAMS[type](told);
}
