package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		d, cancel := newDeadline(t.Context(), 30*time.Second)
		defer cancel()
		child, stop := context.WithCancel(d)
		defer stop()
		<-time.After(10 * time.Second)
		resume, again := d.hold(), d.hold()
		<-time.After(5 * time.Minute)
		resume()
		resume()
		<-time.After(5 * time.Minute)
		again()
		<-child.Done()
		if got := time.Since(start); got != 10*time.Minute+30*time.Second {
			t.Errorf("ended after %s", got)
		}
		if !errors.Is(d.Err(), context.DeadlineExceeded) || !errors.Is(child.Err(), context.DeadlineExceeded) {
			t.Errorf("ended with %v, its child with %v", d.Err(), child.Err())
		}
		d.hold()()
		synctest.Wait()
	})
}

func TestDeadlineEndsWithItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, interrupt := context.WithCancel(t.Context())
		d, cancel := newDeadline(parent, 30*time.Second)
		defer cancel()
		defer d.hold()()
		interrupt()
		<-d.Done()
		if !errors.Is(d.Err(), context.Canceled) {
			t.Errorf("ended with %v", d.Err())
		}
	})
}
