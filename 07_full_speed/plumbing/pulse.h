/*
 * pulse.h - what is to happen now and then while work takes long
 */
#ifndef PULSE_H
#define PULSE_H

/* beat(of) is called now and then: if it does not return 0, the work is to end. */
struct pulse {
	int (*beat)(void *of);
	void *of;
};

#endif
