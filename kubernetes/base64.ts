/* Kubernetes keeps the data of Secrets, and what is in a kubeconfig, as base64. */

export const encoded = (text: string): string => Buffer.from(text).toString('base64');
export const decoded = (text: string): string => Buffer.from(text, 'base64').toString();
