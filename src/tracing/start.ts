import type { Logger } from 'pino';
import type { Tracing } from '../lib/tracing.ts';
import type { TracingSettings } from './settings.ts';

/** Loads OpenTelemetry only if traces are wanted. */
export async function startTracing(
  settings: TracingSettings | undefined,
  log: Logger,
): Promise<Tracing | undefined> {
  if (!settings) return undefined;
  const { createOtlpTracing } = await import('./otlp.ts');
  return createOtlpTracing(settings, log);
}
