/** How long a service may take after SIGTERM to finish the work that it has begun. The supervisor, which does not load services, waits for it. */
export const drainTimeoutMs = 10_000;
