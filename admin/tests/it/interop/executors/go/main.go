// An executor on xxl-job-executor-go, which reports a result once.
package main

import (
	"context"
	"log"
	"os"
	"time"

	xxl "github.com/xxl-job/xxl-job-executor-go"
)

func main() {
	executor := xxl.NewExecutor(
		xxl.ServerAddr(os.Getenv("CARILLON_ADMIN")),
		xxl.AccessToken(os.Getenv("CARILLON_ACCESS_TOKEN")),
		xxl.ExecutorIp("127.0.0.1"),
		xxl.ExecutorPort(os.Getenv("EXECUTOR_LISTEN_PORT")),
		xxl.RegistryKey("python-demo"),
	)
	executor.Init()
	executor.RegTask("wait", wait)
	executor.RegTask("for-ever", forEver)
	log.Fatal(executor.Run())
}

// Lasts until the file `go` is there; the library reports its result a moment later, and then says so in its log.
func wait(ctx context.Context, param *xxl.RunReq) string {
	for {
		if _, err := os.Stat("go"); err == nil {
			go func() {
				// The report is refused at once while nobody listens.
				time.Sleep(500 * time.Millisecond)
				_ = os.WriteFile("reported", nil, 0o644)
			}()
			return "done"
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Does not look at its context, as many handlers do not.
func forEver(ctx context.Context, param *xxl.RunReq) string {
	select {}
}
