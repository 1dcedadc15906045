/** `unknown`: no check and no request has shown yet, or recently, if requests to the endpoint succeed. */
export const HEALTH_STATES = ['unknown', 'healthy', 'unhealthy'] as const;

export type HealthState = (typeof HEALTH_STATES)[number];
