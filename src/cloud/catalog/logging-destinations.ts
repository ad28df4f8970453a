import { type Static, Type } from 'typebox';
import { listOf } from '../../lib/wire.ts';
import type { LoggingDestination } from './service.ts';

export const LoggingDestinationAnswer = Type.Object(
  {
    region_id: Type.Integer({ description: '`destination_region_id` of a cluster’s logging' }),
    region_name: Type.String({ description: 'Name shown to people' }),
  },
  { title: 'LoggingDestination', description: 'A region that logs may be sent to.' },
);
export type LoggingDestinationAnswer = Static<typeof LoggingDestinationAnswer>;
export const LoggingDestinationList = listOf(LoggingDestinationAnswer, 'LoggingDestinationList');

export function presentLoggingDestination(destination: LoggingDestination): LoggingDestinationAnswer {
  return { ...destination };
}
