import { describe, expect, test } from 'vitest';
import { KUBERNETES_NAME_PATTERN, NAME_PATTERN } from './wire.ts';

// Schemas compile patterns with the `u` flag, for which a needless escape is a syntax error.
const name = new RegExp(NAME_PATTERN, 'u');
const kubernetesName = new RegExp(KUBERNETES_NAME_PATTERN, 'u');

describe('names', () => {
  test.each(['abc', 'web servers', '1-1', 'a._', 'A b.c_d-e.', `a${'b'.repeat(62)}`])('%j passes', (text) => {
    expect(name.test(text)).toBe(true);
  });
  test.each(['', 'ab', ' ab', 'ab ', 'ab-', '-ab', '.ab', 'a\\b', 'a\tb', 'abc\n', 'äbc', `a${'b'.repeat(63)}`])(
    '%j is refused',
    (text) => {
      expect(name.test(text)).toBe(false);
    },
  );
});

describe('Kubernetes names', () => {
  test.each(['a1', 'my-cluster', `a${'-'.repeat(18)}z`])('%j passes', (text) => {
    expect(kubernetesName.test(text)).toBe(true);
  });
  test.each(['', 'a', '1a', 'A1', 'a-', '-a', 'a_b', 'a b', 'a1\n', `a${'b'.repeat(20)}`])('%j is refused', (text) => {
    expect(kubernetesName.test(text)).toBe(false);
  });
});
