import { type Static, Type } from 'typebox';
import { listOf } from '../../../lib/wire.ts';
import type { LoggingDestination } from './service.ts';

export const LoggingDestinationAnswer = Type.Object(
  {
    region_id: Type.Integer({
      description: 'Value for `destination_region_id` in the logging settings of a cluster',
    }),
    region_name: Type.String({ description: 'Display name' }),
  },
  { title: 'LoggingDestination', description: 'A region that can store logs.' },
);
export type LoggingDestinationAnswer = Static<typeof LoggingDestinationAnswer>;
export const LoggingDestinationList = listOf(LoggingDestinationAnswer, 'LoggingDestinationList');

export function presentLoggingDestination(destination: LoggingDestination): LoggingDestinationAnswer {
  return { ...destination };
}
