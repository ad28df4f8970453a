import type { Logger } from 'pino';
import { SettingError } from '../lib/errors.ts';
import type { Tracing, TracingSettings } from '../lib/tracing.ts';

type Environment = Record<string, string | undefined>;

const PROTOCOLS: readonly TracingSettings['protocol'][] = ['http/protobuf', 'http/json'];

/**
 * Returns undefined unless the standard variables of OpenTelemetry ask for traces by OTLP.
 * @throws SettingError for a value that can't be used
 */
export function tracingSettings(environment: Environment): TracingSettings | undefined {
  const exporter = environment.OTEL_TRACES_EXPORTER;
  const endpoint = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || environment.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isOff = environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || exporter === 'none';
  if (isOff || (!exporter && !endpoint)) return undefined;
  // The exporter would send to this machine instead, without a word. The text may contain a password.
  if (endpoint && !isAddress(endpoint))
    throw new SettingError('OTEL_EXPORTER_OTLP_ENDPOINT must be an address such as http://127.0.0.1:4318');
  if (exporter && exporter !== 'otlp') throw new SettingError('OTEL_TRACES_EXPORTER must be otlp or none');
  const wanted = environment.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || environment.OTEL_EXPORTER_OTLP_PROTOCOL;
  const protocol = wanted ? PROTOCOLS.find((each) => each === wanted) : 'http/protobuf';
  if (!protocol) throw new SettingError(`OTEL_EXPORTER_OTLP_PROTOCOL must be one of ${PROTOCOLS.join(', ')}`);
  return { protocol, ratio: ratioOf(environment) };
}

const isAddress = (text: string): boolean => URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);

/**
 * Every process has to decide alike, by the ID of the trace alone: so a sampler that is based on the parent is the one that
 * it has for traces without a parent.
 */
function ratioOf(environment: Environment): number {
  const sampler = environment.OTEL_TRACES_SAMPLER?.replace(/^parentbased_/, '') || 'always_on';
  if (sampler === 'always_on') return 1;
  if (sampler === 'always_off') return 0;
  const ratio = Number(environment.OTEL_TRACES_SAMPLER_ARG || 1);
  if (sampler === 'traceidratio' && ratio >= 0 && ratio <= 1) return ratio;
  throw new SettingError(
    'OTEL_TRACES_SAMPLER must be always_on, always_off or traceidratio, with OTEL_TRACES_SAMPLER_ARG from 0 to 1',
  );
}

/** Loads OpenTelemetry only if traces are wanted. */
export async function startTracing(settings: TracingSettings | undefined, log: Logger): Promise<Tracing | undefined> {
  if (!settings) return undefined;
  const { createOtlpTracing } = await import('./otlp.ts');
  return createOtlpTracing(settings, log);
}
