const STATE = '/var/lib/fluent-bit';
/** The agent replaces it by the variable of that name. */
const variable = (name: string): string => `$\{${name}}`;

/** Returns the files of the agent: logs of containers and of the nodes' services, sent to a topic of Kafka. */
export function fluentBitConfig({ brokers, topic }: { brokers: readonly string[]; topic: string }) {
  return {
    'fluent-bit.conf': [
      section('SERVICE', { Flush: '5', Log_Level: 'warning', HTTP_Server: 'Off' }),
      section('INPUT', {
        Name: 'tail',
        Tag: 'kube.*',
        Path: '/var/log/containers/*.log',
        'multiline.parser': 'docker, cri',
        DB: `${STATE}/containers.db`,
        Mem_Buf_Limit: '32MB',
        Skip_Long_Lines: 'On',
      }),
      section('INPUT', {
        Name: 'systemd',
        Tag: 'host.*',
        Systemd_Filter: '_SYSTEMD_UNIT=kubelet.service',
        Read_From_Tail: 'On',
        DB: `${STATE}/systemd.db`,
      }),
      section('FILTER', { Name: 'kubernetes', Match: 'kube.*', Merge_Log: 'On', Keep_Log: 'Off' }),
      section('OUTPUT', {
        Name: 'kafka',
        Match: '*',
        Brokers: brokers.join(','),
        Topics: topic,
        Timestamp_Key: '@timestamp',
        Timestamp_Format: 'iso8601',
        Retry_Limit: 'no_limits',
        'rdkafka.security.protocol': 'SASL_SSL',
        'rdkafka.sasl.mechanism': 'SCRAM-SHA-512',
        'rdkafka.sasl.username': variable('KAFKA_USERNAME'),
        'rdkafka.sasl.password': variable('KAFKA_PASSWORD'),
      }),
    ].join('\n'),
  };
}

function section(name: string, settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([key, value]) => `    ${key} ${value}`);
  return `[${name}]\n${lines.join('\n')}\n`;
}
